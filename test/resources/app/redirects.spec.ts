// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { startAppPeer } from "./app-peer.ts";

const service = await startAppPeer();
const { post, patch, appOf, addProject, eventCount } = service;
after(() => service[Symbol.asyncDispose]());

const projectId = await addProject();
const create = (oidc: JsonObject) => post("/apps", { project_id: projectId, name: "x", oidc });

describe("redirects that no app may have", () => {
  const bad = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "java\tscript:alert(1)",
    " javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:text/html;base64,PHNjcmlwdD4=",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "blob:https://rp.test/1",
    "filesystem:https://rp.test/1",
    "about:blank",
    "view-source:https://rp.test/",
    "https://*.rp.test/callback",
    "https://rp.test/*",
    "*",
    "https://rp.test/callback#fragment",
    "https://rp.test/callback#",
    "https://user@rp.test/callback",
    "https://user:password@rp.test/callback",
    "custom://user@rp.test/callback",
    "/callback",
    "//rp.test/callback",
    "callback",
    "rp.test/callback",
    "https:",
    "https://",
    "https:///callback",
    "https:rp.test",
    "https://rp.test:99999/callback",
    "https://rp.test\\@evil.test/",
    "https://rp.test/ callback",
    "https://rp.test/\ncallback",
    "https://rp.test/%zz",
    "https://rp.test/\u202ecallback",
    "https://r\u00fcckruf.test/",
  ];
  for (const uri of bad) {
    it(`D03: ${JSON.stringify(uri)} is refused, and nothing stored`, async () => {
      const before = await eventCount();
      for (const field of ["redirect_uris", "post_logout_redirect_uris"]) {
        const { status, refusal } = await create({ [field]: ["https://rp.test/", uri] });
        assert.equal(status, 400);
        const named = `app.oidc.${field}[1]`;
        assertRefused(refusal, { code: 3, reason: "REDIRECT_URI_INVALID", field: named });
      }
      assert.equal(await eventCount(), before);
    });
  }

  const good = [
    "https://rp.test",
    "https://rp.test:8443/callback?next=%2Fhome&x=[1]",
    "https://[2001:db8::1]/callback",
    "http://localhost:4200/",
    "com.example.app:/callback",
    "com.example.app://callback",
    "https://rp.test/callback@home",
  ];
  for (const uri of good) {
    it(`${uri} is none of them, and kept as it is`, async () => {
      const made = await create({ redirect_uris: [uri], post_logout_redirect_uris: [uri] });
      const { id } = bodyOf(made, 201).details;
      const oidc = Object((await appOf(id)).app["oidc"]);
      assert.deepEqual([oidc.redirect_uris, oidc.post_logout_redirect_uris], [[uri], [uri]]);
    });
  }
});

describe("additional origins", () => {
  const bad = [
    "null",
    "*",
    "https://*.rp.test",
    "https://rp.test/",
    "https://rp.test/path",
    "https://rp.test?x",
    "https://RP.test",
    "HTTPS://rp.test",
    "https://rp.test:443",
    "http://rp.test:80",
    "https://rp.test:99999",
    "https://user@rp.test",
    "rp.test",
    "//rp.test",
    "file://rp.test",
    "javascript://rp.test",
  ];
  for (const origin of bad) {
    it(`are refused when no browser sends them so: ${origin}`, async () => {
      const { status, refusal } = await create({ additional_origins: [origin] });
      assert.equal(status, 400);
      const field = "app.oidc.additional_origins[0]";
      assertRefused(refusal, { code: 3, reason: "ORIGIN_INVALID", field });
    });
  }

  it("are kept when browsers send them so", async () => {
    const additional_origins = [
      "https://rp.test",
      "http://localhost:4200",
      "https://[2001:db8::1]:8443",
      "capacitor://localhost",
    ];
    const { id } = bodyOf(await create({ additional_origins }), 201).details;
    const oidc = Object((await appOf(id)).app["oidc"]);
    assert.deepEqual(oidc.additional_origins, additional_origins);
  });
});

describe("what does not fit the type of an app (specification 11.5)", () => {
  const type = (app_type: string) => ({ app_type: `OIDC_APP_TYPE_${app_type}` });
  const none = { auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE" };
  const to = (...redirect_uris: string[]) => ({ redirect_uris });
  const grants = (...names: string[]) => ({
    grant_types: names.map((name) => `OIDC_GRANT_TYPE_${name}`),
  });
  const responses = (...names: string[]) => ({
    response_types: names.map((name) => `OIDC_RESPONSE_TYPE_${name}`),
  });
  const web = type("WEB");
  const spa = { ...type("USER_AGENT"), ...none };
  const native = { ...type("NATIVE"), ...none };
  const implicit = { ...grants("IMPLICIT"), ...responses("ID_TOKEN") };
  const both = {
    ...grants("AUTHORIZATION_CODE", "IMPLICIT"),
    ...responses("CODE", "ID_TOKEN_TOKEN"),
  };
  const [https, http, local] = ["https://rp.test/", "http://rp.test/", "http://localhost:1/"];
  const custom = "com.example.app:/callback";
  // Plain http that leaves the device is registered for development only, and told of.
  const toHttp = (...uris: string[]) => ({ ...to(...uris), dev_mode: true });
  const told = "RedirectUris.HttpOnlyForDevMode";

  const rows: [string, JsonObject, string[]][] = [
    ["web, code, https", { ...web, ...to(https) }, []],
    ["web, code, http", { ...web, ...toHttp(http, local) }, [told]],
    ["web, code, custom", { ...web, ...to(custom) }, ["Code.RedirectUris.CustomOnlyForNative"]],
    ["web, no redirect", web, ["NoRedirectUris"]],
    ["web, implicit, no redirect", { ...web, ...implicit }, ["NoRedirectUris"]],
    ["device code only", { ...native, ...grants("DEVICE_CODE") }, []],
    [
      "device code with the response type code",
      { ...native, ...grants("DEVICE_CODE"), ...responses("CODE") },
      [],
    ],
    [
      "device code and code",
      { ...native, ...grants("DEVICE_CODE", "AUTHORIZATION_CODE") },
      ["NoRedirectUris"],
    ],
    [
      "refresh token alone",
      { ...web, ...grants("REFRESH_TOKEN") },
      ["GrantType.Refresh.NoAuthCode"],
    ],
    ["refresh token, device code", { ...web, ...grants("REFRESH_TOKEN", "DEVICE_CODE") }, []],
    [
      "refresh token, code",
      { ...web, ...to(https), ...grants("REFRESH_TOKEN", "AUTHORIZATION_CODE") },
      [],
    ],
    ["user agent, code, https", { ...spa, ...to(https) }, []],
    [
      "user agent, code, http",
      { ...spa, ...toHttp(http) },
      ["Code.RedirectUris.HttpOnlyForWeb", told],
    ],
    ["user agent, code, localhost", { ...spa, ...to(local) }, ["Code.RedirectUris.HttpOnlyForWeb"]],
    [
      "user agent, secret",
      { ...type("USER_AGENT"), ...to(https) },
      ["UserAgent.AuthMethodType.NotNone"],
    ],
    ["native, code, custom", { ...native, ...to(custom) }, []],
    [
      "native, code, loopback",
      { ...native, ...to(local, "http://127.0.0.1/", "http://[::1]:3/") },
      [],
    ],
    [
      "native, code, http",
      { ...native, ...toHttp(http) },
      ["Native.RedirectUris.MustBeHttpLocalhost", told],
    ],
    [
      "native, code, a host that only begins like the loopback",
      { ...native, ...toHttp("http://localhost.evil.test/", "http://127.0.0.1.evil.test/") },
      ["Native.RedirectUris.MustBeHttpLocalhost", told],
    ],
    ["native, secret", { ...type("NATIVE"), ...to(https) }, ["Native.AuthMethodType.NotNone"]],
    [
      "web, implicit, http",
      { ...web, ...implicit, ...toHttp(http) },
      ["Implicit.RedirectUris.HttpNotAllowed", told],
    ],
    [
      "web, implicit, custom",
      { ...web, ...implicit, ...to(custom) },
      ["Implicit.RedirectUris.CustomNotAllowed"],
    ],
    [
      "native, implicit, custom",
      { ...native, ...implicit, ...to(custom) },
      ["Implicit.RedirectUris.CustomNotAllowed"],
    ],
    [
      "native, code and implicit, custom",
      { ...native, ...both, ...to(custom) },
      ["Implicit.RedirectUris.CustomNotAllowed"],
    ],
    ["native, implicit, loopback", { ...native, ...implicit, ...to(local) }, []],
    [
      "native, implicit, http",
      { ...native, ...implicit, ...toHttp(http) },
      ["Native.RedirectUris.MustBeHttpLocalhost", told],
    ],
    [
      "code and implicit, https",
      { ...web, ...both, ...to(https) },
      ["NotAllCombinationsAreAllowed"],
    ],
    [
      "user agent, code and implicit, http, secret",
      { ...type("USER_AGENT"), ...both, ...toHttp(http) },
      [
        "Code.RedirectUris.HttpOnlyForWeb",
        "Implicit.RedirectUris.HttpNotAllowed",
        told,
        "UserAgent.AuthMethodType.NotNone",
      ],
    ],
  ];
  for (const [what, oidc, problems] of rows) {
    it(`${what}: ${problems.join(", ") || "nothing"}`, async () => {
      const { details, compliance_problems } = bodyOf(await create(oidc), 201);
      assert.deepEqual(compliance_problems, problems);
      assert.deepEqual((await appOf(details.id))["compliance_problems"], problems);
    });
  }
});

describe("D92: redirects that must not be registered anew (J18)", () => {
  const invalid = { code: 3, reason: "REDIRECT_URI_INVALID" };
  const unsafe = [
    "ms-msdt:/id",
    "search-ms:query",
    "tel:911",
    "http://rp.test/",
    "http://10.0.0.7/",
  ];
  for (const uri of unsafe) {
    for (const field of ["redirect_uris", "post_logout_redirect_uris"]) {
      it(`${field}: ${uri} is refused, at creation and by a patch`, async () => {
        const created = await create({ redirect_uris: ["https://rp.test/"], [field]: [uri] });
        assertRefused(created.refusal, invalid);
        const { details } = bodyOf(await create({ redirect_uris: ["https://rp.test/"] }), 201);
        const patched = await patch(`/apps/${details.id}`, { oidc: { [field]: [uri] } });
        assertRefused(patched.refusal, invalid);
      });
    }
  }
  it("those that are stored stay, beside new ones", async () => {
    const http = "http://rp.test/";
    const { details } = bodyOf(await create({ redirect_uris: [http], dev_mode: true }), 201);
    bodyOf(await patch(`/apps/${details.id}`, { oidc: { dev_mode: false } }));
    const both = { oidc: { redirect_uris: [http, "https://rp.test/"] } };
    bodyOf(await patch(`/apps/${details.id}`, both));
    const more = { oidc: { redirect_uris: [http, "http://other.test/"] } };
    assertRefused((await patch(`/apps/${details.id}`, more)).refusal, invalid);
  });
});
