import assert from "node:assert/strict";
import {
  type DescMethod,
  fromJson,
  type JsonObject,
  type JsonValue,
  toBinary,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { checkImportedHash } from "../../src/crypto/imported-hash.ts";
import { DomainError } from "../../src/errors.ts";
import { splitter } from "../../src/management/import/split.ts";
import type { OidcPeer } from "../support/oidc.ts";
import { pathOf, restPlaceOf } from "../support/protocols.ts";
import { userAgent } from "../support/user-agent.ts";
import { authorizeUrl } from "../support/login.ts";
import { framed, hear } from "../support/wire.ts";
import { know, messageJson, mutated } from "./messages.ts";
import { judgeAnswer, requireCleanPrototypes } from "./oracle.ts";

/** What is tried: arbitrary inputs, and what must hold of each. */
export type Target = {
  name: string;
  property(peer: OidcPeer): fc.IAsyncProperty<unknown> | fc.IProperty<unknown>;
};

const json = { "content-type": "application/json" };
const bearer = ({ app }: OidcPeer, isKnown: boolean) =>
  isKnown ? { authorization: `Bearer ${app.token}` } : {};
const host = ({ issuer }: OidcPeer) => ({ host: new URL(issuer).host });
const methodsOf = ({ app }: OidcPeer) =>
  app.app.endpoints.filter(({ kind }) => kind === "unary").map(({ rule }) => rule.method);
// Those that an input of their own must not end, or that nothing may call while others are at work.
const leftOut = new Set(["DeleteInstance", "LimitInstance", "BulkLimitInstances", "Import"]);
const called = (peer: OidcPeer) =>
  fc.constantFrom(...methodsOf(peer).filter(({ name }) => !leftOut.has(name)));

const mostly = fc.integer({ min: 0, max: 9 }).map((drawn) => drawn > 0);
type Asked = [DescMethod, JsonObject, boolean];
const asked = (peer: OidcPeer): fc.Arbitrary<Asked> =>
  called(peer).chain((method) => fc.tuple(fc.constant(method), messageJson(method.input), mostly));
const shown = ([method, message, isKnown]: Asked) =>
  `${pathOf(method)} ${isKnown ? "" : "without a token "}${JSON.stringify(message)}`;

/** Every RPC with messages of its schema, as Connect JSON. */
const rpcJson: Target = {
  name: "rpc-json",
  property: (peer) =>
    fc.asyncProperty(named(asked(peer), shown), async ({ value: [method, message, isKnown] }) => {
      const headers = { ...host(peer), ...json, ...bearer(peer, isKnown) };
      const body = JSON.stringify(message);
      judgeAnswer(await peer.peer.send({ path: pathOf(method), headers, body }));
    }),
};

/** Every RPC with bytes of its messages, whole and damaged, as Connect and gRPC. */
const rpcBytes: Target = {
  name: "rpc-bytes",
  property: (peer) =>
    fc.asyncProperty(
      asked(peer).chain(([method, message, isKnown]) =>
        fc.tuple(
          fc.constant(method),
          mutated(bytesOf(method, message)),
          fc.boolean(),
          fc.constant(isKnown),
        ),
      ),
      async ([method, bytes, isGrpc, isKnown]) => {
        const type = isGrpc ? "application/grpc" : "application/proto";
        const headers = { ...host(peer), ...bearer(peer, isKnown), "content-type": type };
        const body = isGrpc ? framed(bytes) : bytes;
        const version = isGrpc ? 2 : 1;
        judgeAnswer(await peer.peer.send({ version, path: pathOf(method), headers, body }));
      },
    ),
};

/** Frames of gRPC that say what they do not hold. */
const frames: Target = {
  name: "grpc-frames",
  property: (peer) =>
    fc.asyncProperty(
      called(peer),
      fc.integer({ min: 0, max: 255 }),
      fc.oneof(fc.constantFrom(0, 1, 4, 0xffffffff), fc.nat({ max: 100 })),
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom("grpc", "grpc+proto", "grpc+json", "grpc-web", "grpc-web-text", "grpc+x"),
      async (method, flag, length, rest, kind) => {
        const head = Buffer.alloc(5);
        head[0] = flag;
        head.writeUInt32BE(length, 1);
        const headers = {
          ...host(peer),
          ...bearer(peer, true),
          "content-type": `application/${kind}`,
        };
        const path = pathOf(method);
        judgeAnswer(
          await peer.peer.send({ version: 2, path, headers, body: Buffer.concat([head, rest]) }),
        );
      },
    ),
};

const pieces = fc.oneof(
  fc.constantFrom(
    ...[
      "users",
      "organizations",
      "_search",
      "..",
      "%2e%2e",
      "%",
      "%00",
      "%ff",
      "",
      "1",
      "_",
      "x".repeat(300),
      "settings",
      "v3alpha",
      "resources",
      "management",
      "v1",
      "import",
    ],
  ),
  fc.webSegment(),
);

/** The transcoder: routes as they are and a little beside, with queries and bodies that no schema knows. */
const rest: Target = {
  name: "rest",
  property: (peer) => {
    const templates = methodsOf(peer)
      .filter(({ name }) => !leftOut.has(name))
      .map((method) => restPlaceOf(method));
    return fc.asyncProperty(
      fc.constantFrom(...templates),
      fc.array(fc.oneof(fc.constant("1"), pieces), { minLength: 4, maxLength: 4 }),
      fc.constantFrom("", "", "", "GET", "POST", "PUT", "PATCH", "DELETE"),
      fc.oneof(fc.webQueryParameters(), fc.constantFrom(...queries)),
      fc.oneof(
        fc.json(),
        fc.jsonValue().map((value) => damaged(JSON.stringify(value))),
        fc.string(),
      ),
      async ({ httpMethod, template }, values, other, query, body) => {
        const given = [...values];
        const path = template.replaceAll(/\{[^}]+\}/g, () => given.pop() ?? "1");
        const target = `${path}?${query}`.replaceAll(/[^\x21-\x7e]/g, "");
        const method = other === "" ? httpMethod : other;
        const headers = { ...host(peer), ...json, ...bearer(peer, true) };
        const content = method === "GET" ? {} : { body };
        judgeAnswer(await peer.peer.send({ method, path: target, headers, ...content }));
      },
    );
  },
};

const queries = [
  ...[
    "query.limit=0",
    "query.limit=-1",
    "query.limit=1e9",
    "query.offset=18446744073709551615",
    "query.asc=maybe",
  ],
  ...[
    "sorting_column=1",
    "sorting_column=X",
    "ctx.org_id=404",
    "ctx=1",
    "query=1",
    "query.limit=1&query.limit=2",
  ],
  ...["filters=1", "__proto__=1", "constructor.prototype.a=1", "a.b.c.d.e.f=1", "%=1", "%ff=%fe"],
];

const parameters = [
  "client_id",
  "client_secret",
  "redirect_uri",
  "response_type",
  "response_mode",
  "scope",
  "state",
  "nonce",
  "prompt",
  "max_age",
  "login_hint",
  "id_token_hint",
  "code",
  "code_verifier",
  "code_challenge",
  "code_challenge_method",
  "grant_type",
  "refresh_token",
  "token",
  "token_type_hint",
  "assertion",
  "client_assertion",
  "client_assertion_type",
  "device_code",
  "user_code",
  "post_logout_redirect_uri",
  "request",
  "request_uri",
  "subject_token",
  "subject_token_type",
  "audience",
  "ui_locales",
  "acr_values",
];
const values = [
  ...[
    "code",
    "token",
    "id_token token",
    "openid profile",
    "none",
    "login",
    "S256",
    "plain",
    "query",
    "form_post",
  ],
  ...[
    "authorization_code",
    "refresh_token",
    "client_credentials",
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
  ],
  ...[
    "urn:ietf:params:oauth:grant-type:device_code",
    "urn:ietf:params:oauth:grant-type:token-exchange",
  ],
  ...[
    "https://rp.test/cb",
    "https://rp.test/cb/",
    "javascript:alert(1)",
    "//evil.test",
    "-1",
    "99999999999999999999",
  ],
  ...[
    "a.b.c",
    "eyJhbGciOiJub25lIn0.e30.",
    "idsvc_ac_1",
    "\u0000",
    "\r\nset-cookie: a=b",
    "é",
    "x".repeat(5_000),
  ],
];
const endpoints = [
  "/oauth/v2/authorize",
  "/oauth/v2/token",
  "/oauth/v2/introspect",
  "/oauth/v2/revoke",
  "/oauth/v2/device_authorization",
  "/oidc/v1/userinfo",
  "/oidc/v1/end_session",
  "/oauth/v2/keys",
  "/.well-known/openid-configuration",
];

/** The endpoints of the provider, with parameters that come twice, in the wrong place or not at all. */
const oidc: Target = {
  name: "oidc",
  property: (peer) => {
    const known = peer.addClient();
    return fc.asyncProperty(
      fc.constantFrom(...endpoints),
      fc.boolean(),
      fc.array(
        fc.tuple(fc.constantFrom(...parameters), fc.oneof(fc.constantFrom(...values), fc.string())),
        { maxLength: 9 },
      ),
      fc.oneof(
        fc.constant(undefined),
        fc.string(),
        fc.constantFrom("Bearer a.b.c", "Basic YTpi", "Basic %%%", "DPoP a", "Bearer"),
      ),
      mostly,
      async (path, isUsual, given, authorization, ofClient) => {
        const { clientId } = await known;
        const isPost = /token|introspect|revoke|device/.test(path) === isUsual;
        const all = new URLSearchParams(given);
        if (ofClient) all.set("client_id", clientId);
        const headers = {
          ...host(peer),
          "content-type": "application/x-www-form-urlencoded",
          ...(authorization === undefined ? {} : { authorization: printable(authorization) }),
        };
        const request = isPost
          ? { method: "POST", path, headers, body: all.toString() }
          : { method: "GET", path: `${path}?${all}`, headers };
        judgeAnswer(await peer.peer.send(request));
      },
    );
  },
};

const forms = [
  "",
  "/loginname",
  "/password",
  "/accounts",
  "/idp",
  "/passkey",
  "/mfa",
  "/mfa/totp",
  "/mfa/email",
  "/mfa/recovery",
  "/mfa/setup",
  "/register",
  "/verify",
  "/verify/email",
  "/password/forgot",
  "/password/reset",
  "/password/change",
  "/consent",
  "/device",
  "/device/confirm",
  "/logout",
  "/logout/done",
  "/signedin",
  "/error",
  "/assets/a.js",
];
const fields = [
  "login_name",
  "password",
  "code",
  "csrf",
  "request",
  "flow",
  "new_password",
  "email",
  "given_name",
  "family_name",
  "user_code",
  "user_id",
  "id",
  "credential",
  "action",
];

/** The forms of the login, without the steps before them. */
const login: Target = {
  name: "login-forms",
  property: (peer) =>
    fc.asyncProperty(
      fc.constantFrom(...forms),
      fc.boolean(),
      fc.array(
        fc.tuple(fc.constantFrom(...fields), fc.oneof(fc.constantFrom(...values), fc.string())),
        { maxLength: 6 },
      ),
      fc.option(fc.string(), { nil: undefined }),
      async (form, isPost, given, cookie) => {
        const sent = new URLSearchParams(given).toString();
        const path = `/ui/login${form}`;
        const headers = {
          ...host(peer),
          origin: peer.issuer,
          "content-type": "application/x-www-form-urlencoded",
          ...(cookie === undefined
            ? {}
            : { cookie: `__Host-idsvc=${printable(cookie)}; idsvc=${printable(cookie)}` }),
        };
        const request = isPost
          ? { method: "POST", path, headers, body: sent }
          : { method: "GET", path: `${path}?${sent}`, headers };
        judgeAnswer(await peer.peer.send(request));
      },
    ),
};

/** A login on its way, whose forms bring what nobody types. */
const steps: Target = {
  name: "login-steps",
  property: (peer) => {
    const known = peer.addClient();
    const step = fc.dictionary(
      fc.constantFrom(...fields),
      fc.oneof(fc.constantFrom(...values, peer.app.made.admin.login_name), fc.string()),
      { maxKeys: 4 },
    );
    return fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (given) => {
      const agent = userAgent(peer.issuer);
      await agent.open(authorizeUrl(peer, await known));
      for (const each of given) {
        if (!agent.last.html.includes("<form")) break;
        const { status, html } = await agent.submit(each);
        assert.ok(status < 500 || status === 503, `${status}: ${html.slice(0, 500)}`);
        assert.doesNotMatch(html, /<script>alert|\n\s+at .*\.ts:\d+/);
        requireCleanPrototypes();
      }
    });
  },
};

/** Bytes on a connection that are perhaps no HTTP at all; the next call is answered. */
const wire: Target = {
  name: "wire",
  property: (peer) =>
    fc.asyncProperty(
      fc.constantFrom(
        "GET / HTTP/1.1\r\n",
        "POST /oauth/v2/token HTTP/1.1\r\nHost: a\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\x16\x03\x01",
        "",
      ),
      fc.uint8Array({ maxLength: 200 }),
      async (start, rest) => {
        const end = "\r\nConnection: close\r\n\r\n";
        const socket = hear(peer.app.port, /./s, start, rest, end);
        await Promise.race([socket, new Promise((resolve) => setTimeout(resolve, 50).unref())]);
        const answer = await peer.peer.send({
          method: "GET",
          path: "/healthz",
          headers: host(peer),
        });
        assert.equal(answer.status, 200);
      },
    ),
};

/** The body of an import is understood the same in whatever pieces it comes, or refused with a reason. */
const imports: Target = {
  name: "import-body",
  property: () =>
    fc.property(
      fc.oneof(
        fc
          .tuple(importDocument(), fc.nat(), fc.boolean())
          .map(([text, at, isCut]) => (isCut ? damaged(text, at) : text)),
        fc.string(),
      ),
      fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 10 }),
      (text, sizes) => {
        const bytes = Buffer.from(text);
        assert.deepEqual(splitIn(bytes, sizes), splitIn(bytes, []));
        requireCleanPrototypes();
      },
    ),
};

/** Hashes of other systems: any text is judged at once. */
const hashes: Target = {
  name: "hash-strings",
  property: () =>
    fc.property(
      fc.oneof(
        fc.string(),
        fc
          .tuple(
            fc.constantFrom(
              "argon2id",
              "argon2i",
              "2b",
              "2y",
              "scrypt",
              "7",
              "pbkdf2-sha256",
              "pbkdf2",
              "1",
              "apr1",
              "5",
              "6",
              "P",
              "H",
              "S",
              "md5salted-prefix",
              "",
            ),
            fc.array(
              fc.oneof(
                fc.string({ maxLength: 60 }),
                fc.base64String({ maxLength: 60 }),
                fc.constantFrom(
                  "v=19",
                  "m=1024,t=2,p=2",
                  "ln=10,r=8,p=2",
                  "rounds=5000",
                  "10",
                  "2147483648",
                  "-1",
                ),
              ),
              { maxLength: 5 },
            ),
          )
          .map(([scheme, parts]) => ["", scheme, ...parts].join("$")),
      ),
      (encoded) => {
        const start = performance.now();
        try {
          checkImportedHash(encoded, "hash");
        } catch (error) {
          assert.ok(error instanceof DomainError, String(error));
        }
        assert.ok(performance.now() - start < 500, "it is judged at once");
      },
    ),
};

/** Makes what messages may name by its id. */
export async function populate(peer: OidcPeer): Promise<void> {
  const organizationId = await peer.addOrganization();
  const userId = await peer.addPerson({}, organizationId);
  const { id: machineId, clientId: machineClient } = await peer.addMachine();
  const { appId, projectId, clientId } = await peer.addClient();
  know([organizationId, userId, machineId, machineClient, appId, projectId, clientId]);
}

export const targets: readonly Target[] = [
  rpcJson,
  rpcBytes,
  frames,
  rest,
  oidc,
  login,
  steps,
  wire,
  imports,
  hashes,
];

const named = <T>(arbitrary: fc.Arbitrary<T>, show: (value: T) => string) =>
  arbitrary.map((value) => ({
    value,
    toString: () => show(value),
    [fc.toStringMethod]: () => show(value),
  }));

const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "");

/** A text with a piece of it lost. */
function damaged(text: string, at = text.length >> 1): string {
  const place = text.length === 0 ? 0 : at % text.length;
  return text.slice(0, place) + text.slice(place + 1 + (at % 3));
}

function bytesOf(method: DescMethod, message: JsonObject): Uint8Array {
  try {
    return toBinary(method.input, fromJson(method.input, message));
  } catch {
    // Not of the schema: then the text is as good as any other bytes.
    return Buffer.from(JSON.stringify(message).slice(0, 500));
  }
}

const importDocument = (): fc.Arbitrary<string> => {
  const record = fc.jsonValue() as fc.Arbitrary<JsonValue>;
  const lists = fc.dictionary(
    fc.constantFrom("humanUsers", "org", "projects", "project_roles", "userGrants"),
    fc.oneof(fc.array(record, { maxLength: 3 }), record),
    { maxKeys: 3 },
  );
  const org = fc.tuple(fc.string(), lists).map(([orgId, more]) => ({ orgId, ...more }));
  return fc.oneof(
    fc
      .array(org, { maxLength: 3 })
      .map((orgs) => JSON.stringify({ dataOrgs: { orgs }, timeout: "1m" })),
    fc
      .array(org, { maxLength: 3 })
      .map((orgs) => orgs.map((each) => JSON.stringify(each)).join("\n")),
  );
};

/** What the splitter gives of bytes that come in pieces of these sizes; a refusal is told by its reason. */
function splitIn(bytes: Buffer, sizes: number[]): unknown {
  const split = splitter();
  const found: unknown[] = [];
  try {
    let at = 0;
    for (const size of [...sizes, bytes.length]) {
      const chunk = bytes.subarray(at, at + size);
      at += chunk.length;
      for (const piece of split.feed(chunk)) {
        const { json: value, ...about } = piece;
        found.push({ ...about, json: Buffer.from(value).toString("utf8") });
      }
    }
    split.end();
    return found;
  } catch (error) {
    assert.ok(error instanceof DomainError, String(error));
    return error.reason;
  }
}
