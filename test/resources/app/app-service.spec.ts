// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { callback, startAppPeer } from "./app-peer.ts";

const service = await startAppPeer();
const { get, post, patch, remove, addProject, addApp, appOf } = service;
const { addOrganization, eventCount } = service;
after(() => service[Symbol.asyncDispose]());

const notFound = { code: 5, reason: "APP_NOT_FOUND" };
const invalid = (field: string) => ({ code: 3, reason: "VALIDATION_FAILED", field });
const noOidc = {
  app_type: "OIDC_APP_TYPE_WEB",
  redirect_uris: [],
  post_logout_redirect_uris: [],
  response_types: ["OIDC_RESPONSE_TYPE_CODE"],
  grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"],
  auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC",
  access_token_type: "OIDC_TOKEN_TYPE_BEARER",
  access_token_role_assertion: false,
  id_token_role_assertion: false,
  id_token_userinfo_assertion: false,
  clock_skew: "0s",
  additional_origins: [],
  dev_mode: false,
  back_channel_logout_uri: "",
  id_token_signed_response_alg: "RS256",
  strict_assertion_audience: false,
};
/** Nothing as it is by default. */
const fullOidc = {
  app_type: "OIDC_APP_TYPE_USER_AGENT",
  redirect_uris: [callback, "https://rp.test/silent"],
  post_logout_redirect_uris: ["https://rp.test/"],
  response_types: ["OIDC_RESPONSE_TYPE_CODE", "OIDC_RESPONSE_TYPE_ID_TOKEN"],
  grant_types: [
    "OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
    "OIDC_GRANT_TYPE_IMPLICIT",
    "OIDC_GRANT_TYPE_REFRESH_TOKEN",
    "OIDC_GRANT_TYPE_DEVICE_CODE",
    "OIDC_GRANT_TYPE_TOKEN_EXCHANGE",
  ],
  auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE",
  access_token_type: "OIDC_TOKEN_TYPE_JWT",
  access_token_role_assertion: true,
  id_token_role_assertion: true,
  id_token_userinfo_assertion: true,
  clock_skew: "2.500s",
  additional_origins: ["https://spa.test"],
  dev_mode: true,
  back_channel_logout_uri: "https://rp.test/logout",
  id_token_signed_response_alg: "ES256",
  strict_assertion_audience: true,
};

describe("creating an app", () => {
  it("answers 201 with a client id and a secret; it is active and its project's owner owns it", async () => {
    const organization = await addOrganization();
    const project_id = await addProject(organization);
    const wanted = { project_id, name: "Größe", oidc: {} };
    const { details, client_id, client_secret, ...rest } = bodyOf(await post("/apps", wanted), 201);
    assert.deepEqual(rest, { compliance_problems: ["NoRedirectUris"] });
    assert.match(client_id, /^\d+$/);
    assert.match(client_secret, /^idsvc_cs_[\w-]{43}$/);
    assert.deepEqual(details.resource_owner, { type: "OWNER_TYPE_ORG", id: organization });
    assert.deepEqual(await appOf(details.id), {
      details,
      state: "EFFECTIVE_STATE_ACTIVE",
      app: { ...wanted, oidc: noOidc },
      client_id,
      compliance_problems: ["NoRedirectUris"],
    });
  });

  it("keeps all that it is given", async () => {
    const { id, secret } = await addApp({ oidc: fullOidc });
    assert.equal(secret, "");
    assert.deepEqual((await appOf(id)).app["oidc"], fullOidc);
  });

  it("gives an API a secret, unless it has keys", async () => {
    for (const [method, hasSecret] of [
      ["API_AUTH_METHOD_TYPE_BASIC", true],
      ["API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT", false],
    ] as const) {
      const api = { auth_method_type: method };
      const made = await addApp({ api });
      assert.equal(made.secret !== "", hasSecret, method);
      const { app: read, compliance_problems } = await appOf(made.id);
      assert.deepEqual([read["api"], compliance_problems], [api, []]);
    }
    assert.deepEqual((await appOf((await addApp({ api: {} })).id)).app["api"], {
      auth_method_type: "API_AUTH_METHOD_TYPE_BASIC",
    });
  });

  const oidcSecrets = { BASIC: true, POST: true, NONE: false, PRIVATE_KEY_JWT: false };
  for (const [method, hasSecret] of Object.entries(oidcSecrets)) {
    it(`tells ${hasSecret ? "a" : "no"} secret of an app that authenticates by ${method}`, async () => {
      const oidc = { auth_method_type: `OIDC_AUTH_METHOD_TYPE_${method}` };
      assert.equal((await addApp({ oidc })).secret !== "", hasSecret);
    });
  }

  it("makes no two client ids alike, and takes the same name twice", async () => {
    const projectId = await addProject();
    const [one, two] = [
      await addApp({ project_id: projectId, name: "same" }),
      await addApp({ project_id: projectId, name: "same" }),
    ];
    assert.notEqual(one.clientId, two.clientId);
    assert.notEqual(one.secret, two.secret);
  });

  const uris = Array.from({ length: 101 }, (_, i) => `https://rp.test/${i}`);
  const oidcWith = (oidc: JsonObject) => ({ name: "x", oidc });
  const refused: [string, JsonObject, string][] = [
    ["without a project", { project_id: "", name: "x", oidc: {} }, "app.project_id"],
    ["without a name", { oidc: {} }, "app.name"],
    ["with a name of 201 characters", { name: "n".repeat(201), oidc: {} }, "app.name"],
    ["with control characters in the name", { name: "a\u0000b", oidc: {} }, "app.name"],
    ["without a kind", { name: "x" }, "app.config"],
    ["with 101 redirects", oidcWith({ redirect_uris: uris }), "app.oidc.redirect_uris"],
    [
      "with the same redirect twice",
      oidcWith({ redirect_uris: [callback, callback] }),
      "app.oidc.redirect_uris",
    ],
    ["with a clock skew of 5.1 s", oidcWith({ clock_skew: "5.1s" }), "app.oidc.clock_skew"],
    ["with a negative clock skew", oidcWith({ clock_skew: "-1s" }), "app.oidc.clock_skew"],
    [
      "with an unknown signature algorithm",
      oidcWith({ id_token_signed_response_alg: "none" }),
      "app.oidc.id_token_signed_response_alg",
    ],
    [
      "with a grant type that was not chosen",
      oidcWith({ grant_types: ["OIDC_GRANT_TYPE_UNSPECIFIED"] }),
      "app.oidc.grant_types[0]",
    ],
    ["with an app type of 99", oidcWith({ app_type: 99 }), "app.oidc.app_type"],
  ];
  for (const [what, wanted, field] of refused) {
    it(`is refused ${what}`, async () => {
      const project_id = await addProject();
      const before = await eventCount();
      const { status, refusal } = await post("/apps", { project_id, ...wanted });
      assert.equal(status, 400);
      assertRefused(refusal, invalid(field));
      assert.equal(await eventCount(), before);
    });
  }

  it("is refused with two kinds", async () => {
    const project_id = await addProject();
    const both = await post("/apps", { project_id, name: "x", oidc: {}, api: {} });
    assert.equal(both.status, 400);
    assertRefused(both.refusal, { code: 3, reason: "INVALID_JSON_FIELD", field: "app.api" });
  });

  const lacking: [string, string[], string[]][] = [
    ["code", ["CODE"], ["REFRESH_TOKEN"]],
    ["id_token", ["ID_TOKEN"], []],
    ["id_token token", ["CODE", "ID_TOKEN_TOKEN"], ["AUTHORIZATION_CODE"]],
  ];
  for (const [response_type, responses, grants] of lacking) {
    it(`is refused with the response type ${response_type} without its grant type`, async () => {
      const oidc = {
        response_types: responses.map((type) => `OIDC_RESPONSE_TYPE_${type}`),
        grant_types: grants.map((type) => `OIDC_GRANT_TYPE_${type}`),
      };
      const project_id = await addProject();
      const { status, refusal } = await post("/apps", { project_id, name: "x", oidc });
      assert.equal(status, 400);
      const field = "app.oidc.grant_types";
      assertRefused(refusal, { code: 3, reason: "GRANT_TYPE_MISSING", field });
      assert.deepEqual(refusal.metadata, { response_type });
    });
  }

  it("is refused in a project that is not there", async () => {
    const { status, refusal } = await post("/apps", { project_id: "404", name: "x", oidc: {} });
    assert.equal(status, 404);
    assertRefused(refusal, { code: 5, reason: "PROJECT_NOT_FOUND" });
  });

  it("is refused where an address that the service would call is denied", async () => {
    const project_id = await addProject();
    for (const [url, reason] of [
      ["http://169.254.169.254/latest", "TARGET_URL_DENIED"],
      ["javascript:alert(1)", "REDIRECT_URI_INVALID"],
    ] as const) {
      const oidc = { back_channel_logout_uri: url };
      const { status, refusal } = await post("/apps", { project_id, name: "x", oidc });
      assert.equal(status, 400);
      const field = "app.oidc.back_channel_logout_uri";
      assertRefused(refusal, { code: 3, reason, field });
    }
  });
});

describe("patching an app", () => {
  it("changes what is given, and records nothing when nothing differs", async () => {
    const { id } = await addApp();
    const { details } = bodyOf(
      await patch(`/apps/${id}`, { name: "after", oidc: { dev_mode: true, clock_skew: "1s" } }),
    );
    const read = await appOf(id);
    const expected = { ...noOidc, redirect_uris: [callback], dev_mode: true, clock_skew: "1s" };
    assert.deepEqual([read.app["name"], read.app["oidc"]], ["after", expected]);
    assert.deepEqual(read["details"], details);
    const before = await eventCount();
    for (const same of [
      {},
      { name: "after" },
      { oidc: {} },
      { oidc: { dev_mode: true, redirect_uris: [callback] } },
    ]) {
      const again = bodyOf(await patch(`/apps/${id}`, same));
      assert.deepEqual(again, { details, compliance_problems: [] });
    }
    assert.equal(await eventCount(), before);
  });

  it("changes every property", async () => {
    const { id } = await addApp();
    bodyOf(await patch(`/apps/${id}`, { oidc: fullOidc }));
    assert.deepEqual((await appOf(id)).app["oidc"], fullOidc);
  });

  it("empties the lists that it names, whatever it gives for them", async () => {
    const { id } = await addApp({ oidc: fullOidc });
    const lists = {
      redirect_uris: [],
      post_logout_redirect_uris: [],
      response_types: [],
      additional_origins: [],
    };
    bodyOf(await patch(`/apps/${id}`, { oidc: lists }));
    assert.deepEqual((await appOf(id)).app["oidc"], fullOidc, "an empty list says nothing");
    const clear = Object.keys(lists);
    const made = await patch(`/apps/${id}`, { oidc: { clear, redirect_uris: [callback] } });
    assert.deepEqual(bodyOf(made).compliance_problems, ["NoRedirectUris"]);
    assert.deepEqual((await appOf(id)).app["oidc"], { ...fullOidc, ...lists });
    const { refusal } = await patch(`/apps/${id}`, { oidc: { clear: ["grant_types"] } });
    assertRefused(refusal, invalid("app.oidc.clear[0]"));
  });

  it("is refused for the other kind, which never changes", async () => {
    const [oidc, api] = [await addApp(), await addApp({ api: {} })];
    const before = await eventCount();
    for (const refused of [
      await patch(`/apps/${oidc.id}`, { name: "new", api: {} }),
      await patch(`/apps/${api.id}`, { name: "new", oidc: {} }),
    ]) {
      assert.equal(refused.status, 400);
      assertRefused(refused.refusal, { code: 9, reason: "APP_OF_OTHER_KIND" });
    }
    assert.equal(await eventCount(), before);
  });

  it("is refused where the whole would not be sound", async () => {
    const { id } = await addApp();
    const before = await eventCount();
    const patches: [JsonObject, string, string][] = [
      [
        { response_types: ["OIDC_RESPONSE_TYPE_ID_TOKEN"] },
        "GRANT_TYPE_MISSING",
        "app.oidc.grant_types",
      ],
      [{ redirect_uris: ["/relative"] }, "REDIRECT_URI_INVALID", "app.oidc.redirect_uris[0]"],
      [{ additional_origins: ["null"] }, "ORIGIN_INVALID", "app.oidc.additional_origins[0]"],
    ];
    for (const [oidc, reason, field] of patches) {
      const { status, refusal } = await patch(`/apps/${id}`, { oidc });
      assert.equal(status, 400);
      assertRefused(refusal, { code: 3, reason, field });
    }
    assert.equal(await eventCount(), before);
  });

  it("D46: is refused with what a patch cannot change", async () => {
    const { id } = await addApp();
    for (const field of ["id", "state", "project_id", "client_id", "client_secret"]) {
      const { status, refusal } = await patch(`/apps/${id}`, { [field]: "1" });
      assert.equal(status, 400, field);
      assertRefused(refusal, { code: 3, reason: "UNKNOWN_FIELD", field: `app.${field}` });
    }
  });
});

describe("the state of an app", () => {
  it("goes back and forth; an action that finds it there already is refused", async () => {
    const { id } = await addApp();
    const act = (action: string) => post(`/apps/${id}/_${action}`);
    assertRefused((await act("activate")).refusal, { code: 9, reason: "APP_ACTIVE" });
    bodyOf(await act("deactivate"));
    assert.equal((await appOf(id)).state, "EFFECTIVE_STATE_INACTIVE");
    assertRefused((await act("deactivate")).refusal, { code: 9, reason: "APP_INACTIVE" });
    const { details } = bodyOf(await act("activate"));
    const read = await appOf(id);
    assert.deepEqual([read.state, read["details"]], ["EFFECTIVE_STATE_ACTIVE", details]);
  });

  it("follows that of its project and of its organization (B7)", async () => {
    const organization = await addOrganization();
    const projectId = await addProject(organization);
    const { id } = await addApp({ project_id: projectId });
    const inactive = [{ in_ids: { ids: [id] } }, { state: { state: "EFFECTIVE_STATE_INACTIVE" } }];
    for (const holder of [`/projects/${projectId}`, `/organizations/${organization}`]) {
      bodyOf(await post(`${holder}/_deactivate`));
      assert.equal((await appOf(id)).state, "EFFECTIVE_STATE_INACTIVE", holder);
      const found = bodyOf(await post("/apps/_search", inactive));
      assert.equal(found.result[0]?.state, "EFFECTIVE_STATE_INACTIVE");
      bodyOf(await post(`${holder}/_activate`));
      assert.equal((await appOf(id)).state, "EFFECTIVE_STATE_ACTIVE", holder);
      assert.deepEqual(bodyOf(await post("/apps/_search", inactive)).result, []);
    }
  });
});

describe("deleting an app", () => {
  const assertGone = async (id: string) => {
    for (const gone of [
      await get(`/apps/${id}`),
      await remove(`/apps/${id}`),
      await patch(`/apps/${id}`, { name: "x" }),
      await post(`/apps/${id}/_deactivate`),
      await post(`/apps/${id}/_activate`),
      await post(`/apps/${id}/_regenerate_secret`),
      await post(`/apps/${id}/keys`),
      await get(`/apps/${id}/keys`),
      await remove(`/apps/${id}/keys/1`),
    ]) {
      assert.equal(gone.status, 404);
      assertRefused(gone.refusal, notFound);
    }
  };

  it("takes it away at once", async () => {
    const { id } = await addApp();
    const { details } = bodyOf(await remove(`/apps/${id}`));
    assert.equal(details.id, id);
    await assertGone(id);
  });

  it("goes with its project", async () => {
    const projectId = await addProject();
    const made = [
      await addApp({ project_id: projectId }),
      await addApp({ project_id: projectId, api: {} }),
    ];
    const other = await addApp();
    bodyOf(await remove(`/projects/${projectId}`));
    for (const { id } of made) await assertGone(id);
    assert.equal((await appOf(other.id)).state, "EFFECTIVE_STATE_ACTIVE");
  });

  it("goes with its project also when it is made in the meantime", async () => {
    const project_id = await addProject();
    const create = () => post("/apps", { project_id, name: "x", oidc: {} });
    await Promise.all([create(), create()]);
    const creations = Array.from({ length: 10 }, create);
    const deletion = remove(`/projects/${project_id}`);
    const made = await Promise.all([...creations, create(), create()]);
    bodyOf(await deletion);
    for (const { status } of made) assert.ok([201, 404, 409].includes(status), String(status));
    const left = bodyOf(await post("/apps/_search", [{ project_id }]));
    assert.deepEqual([left.result, left.details.total_result], [[], "0"]);
  });

  it("goes with its organization (B7)", async () => {
    const organization = await addOrganization();
    const { id } = await addApp({ project_id: await addProject(organization) });
    bodyOf(await remove(`/organizations/${organization}`));
    await assertGone(id);
    const found = bodyOf(await post("/apps/_search", [{ in_ids: { ids: [id] } }]));
    assert.deepEqual([found.result, found.details.total_result], [[], "0"]);
  });
});
