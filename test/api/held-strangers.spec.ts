// Run: shared
import { gzipSync } from "node:zlib";
import { before, describe } from "node:test";
import {
  base64url,
  encoded,
  filledTo,
  form,
  heldService,
  hostileJson,
  json,
  nested,
} from "../support/held.ts";
import { formOf, userAgent } from "../support/user-agent.ts";

const mostMs = 50;
const kib = 1024;
// A body, and a token in one: in base64 three bytes are four.
const [short, inToken] = [63 * kib, 44 * kib];
const { service, costs } = await heldService();
const token = "/oauth/v2/token";
const authorize = "/oauth/v2/authorize";
const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const jwtOf = (header: string, payload: string): string =>
  [header, payload, "x".repeat(256)].map(base64url).join(".");

const { details } = await service.make("/projects", { name: "held" });
const redirect_uri = "https://rp.test/callback";
const oidc = { redirect_uris: [redirect_uri] };
const app = await service.make("/apps", { project_id: Object(details).id, name: "held", oidc });
const client_id = String(app["client_id"]);
const client = { client_id, redirect_uri, response_type: "code", scope: "openid", state: "s" };

describe("64 KiB of a stranger (J17): JSON in tokens and parameters", () => {
  for (const [what, text] of Object.entries(hostileJson(inToken))) {
    const inHeader = jwtOf(text, '{"sub":"1"}');
    const inPayload = jwtOf('{"alg":"RS256","kid":"1"}', text);
    for (const [where, jwt] of Object.entries({ header: inHeader, payload: inPayload })) {
      const assertion = encoded({ grant_type: jwtBearer, assertion: jwt });
      costs(
        `an assertion whose ${where} is ${what}`,
        mostMs,
        () => ({ path: token, headers: form, body: assertion }),
        /^40[01] .*"error"/,
      );
      const authentication = encoded({
        grant_type: "client_credentials",
        client_assertion: jwt,
        client_assertion_type: assertionType,
      });
      costs(
        `a client assertion whose ${where} is ${what}`,
        mostMs,
        () => ({ path: token, headers: form, body: authentication }),
        /^401 .*invalid_client/,
      );
      const hint = () => encoded({ ...client, id_token_hint: jwt });
      costs(
        `a hint whose ${where} is ${what}`,
        mostMs,
        () => ({ path: authorize, headers: form, body: hint() }),
        /^(303|400) /,
      );
    }
    const claims = () => encoded({ ...client, claims: text.slice(0, 20 * kib) });
    costs(
      `claims that are ${what}`,
      mostMs,
      () => ({ path: authorize, headers: form, body: claims() }),
      /^(303|400) /,
    );
    costs(
      `a call without a token whose body is ${what}`,
      mostMs,
      () => ({ path: "/resources/v3alpha/users/_search", headers: json, body: text }),
      /^401 .*TOKEN_MISSING/,
    );
  }
});

describe("64 KiB of a stranger (J17): lists, forms and pages", () => {
  const lists = ["scope", "ui_locales", "prompt", "acr_values", "response_type", "login_hint"];
  for (const name of [...lists, "nonce"]) {
    const others = Object.fromEntries(Object.entries(client).filter(([one]) => one !== name));
    costs(
      `much in ${name}`,
      mostMs,
      () => {
        const body = `${encoded(others)}&${name}=${filledTo(short - kib, "a+")}`;
        return { path: authorize, headers: form, body };
      },
      /^(303|400) /,
    );
  }
  const pieces = {
    "combining marks": "%CC%81%CC%96",
    pairs: "a=b&",
    "percent signs": "%",
    ligatures: "%EF%B7%BA",
  };
  for (const [what, piece] of Object.entries(pieces)) {
    const pages = { loginname: "login_name", passkey: "credential", register: "email" };
    for (const [page, field] of Object.entries(pages)) {
      let headers: Record<string, string> = {};
      let fields = "";
      before(async () => {
        const agent = userAgent(service.url);
        await agent.open("/ui/login");
        const cookie = [...agent.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
        headers = { ...form, cookie, origin: service.url };
        fields = encoded({ ...formOf(agent.last.html).fields, given_name: "A", family_name: "B" });
      });
      costs(
        `${what} that are typed at ${page}`,
        mostMs,
        () => {
          const body = filledTo(short, piece, [`${fields}&${field}=`, ""]);
          return { path: `/ui/login/${page}`, headers, body };
        },
        /^(303|400) /,
      );
    }
    costs(
      `${what} for an endpoint`,
      mostMs,
      () => ({ path: token, headers: form, body: filledTo(short, piece, ["a=", ""]) }),
      /^400 /,
    );
  }
  const parts = "e30.".repeat(15_000);
  costs(
    "a token of many parts",
    mostMs,
    () => ({
      path: token,
      headers: form,
      body: encoded({ grant_type: jwtBearer, assertion: parts }),
    }),
    /^400 /,
  );
});

describe("what else a stranger sends (J17)", () => {
  const header = 12 * kib;
  const bearer = `Bearer ${jwtOf('{"alg":"RS256"}', nested(7 * kib, "[", "]"))}`;
  costs(
    "a bearer token",
    mostMs,
    () => ({
      path: "/resources/v3alpha/users/_search",
      body: "{}",
      headers: { ...json, authorization: bearer },
    }),
    /^401 .*TOKEN_INVALID/,
  );
  for (const [name, piece] of [
    ["cookie", "a=b; "],
    ["accept-language", "de;q=0.5,"],
    ["forwarded", "for=1.2.3.4,"],
    ["x-forwarded-for", "1.2.3.4,"],
  ] as const) {
    costs(
      `a long ${name}`,
      mostMs,
      () => ({ path: "/ui/login/register", headers: { [name]: filledTo(header, piece) } }),
      /^200 /,
    );
  }
  for (const [what, query, expected] of [
    ["a flow that is none", "flow", /^400 .*FLOW_NOT_FOUND/s],
    ["a form that never was", "form", /^200 /],
  ] as const) {
    costs(
      what,
      mostMs,
      () => ({ path: `/ui/login/loginname?${query}=${"a".repeat(header)}` }),
      expected,
    );
  }
  const bomb = Buffer.from(gzipSync(Buffer.alloc(32 * kib * kib)));
  costs(
    "a compressed message",
    mostMs,
    () => ({
      path: "/idsvc.resources.user.v3alpha.UserService/SearchUsers",
      headers: { "content-type": "application/proto", "content-encoding": "gzip" },
      body: bomb,
    }),
    /^401 /,
  );
  const xml = Buffer.from(filledTo(192 * kib, "<a/>", ["<r>", "</r>"])).toString("base64");
  costs(
    "XML that nobody asked for",
    mostMs,
    () => ({
      path: "/idps/1/saml/acs",
      headers: form,
      body: encoded({ SAMLResponse: xml, RelayState: "x" }),
    }),
    /^400 .*PROVIDER_FAILED/s,
  );
});
