import assert from "node:assert/strict";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { targetsOf } from "../../src/oidc/core/audience.ts";
import type { At } from "../../src/oidc/core/ports.ts";
import { clientPorts } from "../../src/oidc/store/index.ts";
import { appReader } from "../../src/resources/app/index.ts";
import { projectGrantsOf, userGrantsOf } from "../../src/resources/grant/index.ts";
import { idpReader } from "../../src/resources/idp/index.ts";
import { membershipReader } from "../../src/resources/membership/index.ts";
import { policiesOf } from "../../src/app/policies.ts";
import { webKeysOf } from "../../src/resources/webkey/index.ts";
import { featureReader } from "../../src/settings/feature/index.ts";
import { oidcSettingsReader } from "../../src/settings/oidc/index.ts";
import { authorizeUrl, signIn } from "../support/login.ts";
import { systemCaller } from "../support/system-caller.ts";
import { userAgent } from "../support/user-agent.ts";
import { codeForm, type Credentials, formSpec, peerClients, peerPaths } from "./oidc-requests.ts";
import { person, redirectUri, sentChallenge, servicePaths } from "./oidc-requests.ts";
import {
  introspectionCase,
  introspectionOfMany,
  type Machine,
  offlineCodesFor,
  oidcCases,
  type Side,
} from "./oidc-side.ts";
import { type Child, startServer } from "./process.ts";
import { callJson, restSpec } from "./requests.ts";
import { textCase } from "./rows-rpc.ts";
import { type Bench, hello, type RowPlan, type Wanted } from "./rows.ts";
import { newStore, startService, type Store, withKernel } from "./store.ts";

const base = "/resources/v3alpha";
const peerName = "oidc-provider";
const together = 1_000;
const codeLifeMs = 3_600_000;
const basicAuth = "OIDC_AUTH_METHOD_TYPE_BASIC";

type Made = {
  userId: string;
  web: Credentials;
  webJwt: Credentials;
  asker: Credentials;
  opaque: Credentials;
  jwt: Credentials;
  rsa: Machine;
};

/** The provider beside oidc-provider, which keeps everything in memory. */
export async function oidcBench(rounds: number, wanted: Wanted): Promise<Bench> {
  await using running = new AsyncDisposableStack();
  const store = running.use(await newStore());
  const made = await prepared(store);
  const families = offlineCodesFor(rounds);
  const offlineScope = ["openid", "offline_access"];
  const offline = await codesOf(store, made.web, made.userId, families, offlineScope);
  const manyCodes = wanted(ofMany.id)
    ? await codesOf(store, made.web, made.userId, manyTokens, ["openid"])
    : [];
  const [jwtCode = ""] = await codesOf(store, made.webJwt, made.userId, 1, ["openid"]);
  const service = running.use((await startService(store.dir, { asItself: true })).child);
  const own: Side = {
    name: "service",
    pid: service.pid,
    port: service.port,
    paths: servicePaths,
    web: made.web,
    asker: made.asker,
    machines: { opaque: made.opaque, ES256: made.jwt, RS256: made.rsa },
    cookie: await cookieOf(service, made.web),
    offline,
    disk: store.dir,
  };
  const peer = running.use(
    await startServer([join(import.meta.dirname, "peers/oidc-provider.ts")]),
  );
  const scope = encodeURIComponent(offlineScope.join(" "));
  const atPeer: Record<string, JsonValue> = await callJson(
    restSpec(peer.port, `POST /prepare?codes=${families}&scope=${scope}`),
  );
  const { web, opaque, rs256, es256 } = peerClients;
  const other: Side = {
    name: peerName,
    pid: peer.pid,
    port: peer.port,
    paths: peerPaths,
    web,
    asker: web,
    machines: { opaque, RS256: rs256, ES256: es256 },
    cookie: String(atPeer["cookie"]),
    offline: textsOf(atPeer["codes"]),
  };
  const jwtToken = async () =>
    String(
      (await callJson(formSpec(own.port, own.paths.token, made.webJwt, codeForm(jwtCode))))[
        "access_token"
      ],
    );
  const jwtCase = introspectionCase(own, "introspection JWT", jwtToken);
  const many = wanted(ofMany.id) ? await introspectionOfMany(own, manyCodes) : [];
  const bare = running.use(await startServer([join(import.meta.dirname, "peers/hello.ts")]));
  const held = running.move();
  return {
    cases: [textCase(hello, bare), ...oidcCases(own), jwtCase, ...many, ...oidcCases(other)],
    rows: [...oidcRows],
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

const row = (what: string): RowPlan => ({
  id: `oidc-${what.replaceAll(" ", "-").toLowerCase()}`,
  service: `${what} service`,
  peers: { [peerName]: `${what} ${peerName}` },
});

/** More than small caches of tokens hold. */
const manyTokens = 20_000;
const ofMany: RowPlan = {
  id: "oidc-introspection-many",
  service: "introspection of many tokens",
  peers: { "one token": "introspection of one token" },
};

export const oidcRows: readonly RowPlan[] = [
  { ...row("discovery"), floor: hello },
  { ...row("keys"), floor: hello },
  row("token opaque"),
  row("token ES256"),
  row("token RS256"),
  row("introspection"),
  {
    id: "oidc-introspection-jwt",
    service: "introspection JWT service",
    peers: { opaque: "introspection service" },
  },
  ofMany,
  row("userinfo"),
  row("refresh"),
  row("code"),
  row("flow"),
];

/** What the requests need, made over the API of a service that then stops. */
async function prepared(store: Store): Promise<Made> {
  const system = systemCaller();
  await using service = (await startService(store.dir, { env: system.env })).child;
  type Who = { token: string; host?: string };
  const owner: Who = { token: store.token };
  const post = async (path: string, body?: JsonObject, { token, host }: Who = owner) => {
    const sent = body === undefined ? { token } : { token, body };
    const spec = restSpec(service.port, `POST ${base}${path}`, sent);
    const headers = host === undefined ? {} : { Host: host };
    return Object(await callJson({ ...spec, headers: { ...spec.headers, ...headers } }));
  };
  const { issuer } = store.made;
  const { details: key } = await post("/web_keys", { ecdsa: {} });
  await post(`/web_keys/${key.id}/_activate`);
  const machine = async (username: string, data: JsonObject, by = owner): Promise<Machine> => {
    const { details } = await post("/users", { username, schema_id: "machine", data }, by);
    const made = await post(`/users/${details.id}/secret`, undefined, by);
    const host = by.host === undefined ? {} : { host: by.host };
    return { clientId: made.client_id, secret: made.client_secret, ...host };
  };
  // An instance has one key that signs: RSA is that of a second one, at its own host.
  const host = "rsa.localhost";
  const second = await post(
    "/instances",
    {
      name: "rsa",
      domain: host,
      organization: { name: "rsa" },
      machine: { username: "owner", name: "owner" },
    },
    { token: await system.tokenFor(issuer), host: new URL(issuer).host },
  );
  const rsaOwner = { token: second.personal_access_token, host };
  const { details: project } = await post("/projects", { name: "bench" });
  const app = async (name: string, kind: JsonObject): Promise<Credentials> => {
    const { client_id, client_secret } = await post("/apps", {
      name,
      project_id: project.id,
      ...kind,
    });
    return { clientId: client_id, secret: client_secret };
  };
  const webApp = (more: JsonObject): JsonObject => ({
    oidc: {
      redirect_uris: [redirectUri],
      response_types: ["OIDC_RESPONSE_TYPE_CODE"],
      grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"],
      app_type: "OIDC_APP_TYPE_WEB",
      auth_method_type: basicAuth,
      id_token_signed_response_alg: "ES256",
      ...more,
    },
  });
  const { details: user } = await post("/users", {
    username: person.preferred_username,
    data: { given_name: person.given_name, family_name: person.family_name },
    contact: { email: { address: person.email, is_verified: true } },
    authenticators: { password: { password: "correct horse battery staple" } },
  });
  return {
    userId: user.id,
    web: await app("web", webApp({})),
    webJwt: await app("web jwt", webApp({ access_token_type: "OIDC_TOKEN_TYPE_JWT" })),
    asker: await app("asker", { api: { auth_method_type: "API_AUTH_METHOD_TYPE_BASIC" } }),
    opaque: await machine("opaque", {}),
    jwt: await machine("jwt", { access_token_type: "jwt" }),
    rsa: await machine("rsa", { access_token_type: "jwt" }, rsaOwner),
  };
}

/** Codes as the authorization endpoint stores them. */
async function codesOf(
  store: Store,
  { clientId }: Credentials,
  userId: string,
  count: number,
  scope: readonly string[],
): Promise<string[]> {
  const made: string[] = [];
  await withKernel(store, async (kernel) => {
    const features = featureReader(kernel.db, kernel.featureDefaults);
    const memberships = membershipReader(kernel.db);
    const apps = appReader(kernel.db);
    const idps = idpReader(kernel.db, features);
    const ports = clientPorts({
      ...kernel,
      memberships,
      apps,
      clientApps: { ...apps, isSecretOf: () => false },
      projectGrants: projectGrantsOf(kernel.db, memberships),
      userGrants: userGrantsOf(kernel.db, memberships),
      policies: policiesOf(kernel.db),
      webKeys: webKeysOf(kernel),
      timesOf: oidcSettingsReader(kernel.db),
      noteUse: () => {},
      noteRefusal: () => {},
      isIdpActive: async (...asked) => (await idps.effectiveState(...asked)) === "active",
      features,
    });
    const at: At = { instanceId: store.made.instance_id, issuer: "", requestId: "" };
    const [client, user] = [
      await ports.clients.byId(at, clientId),
      await ports.users.byId(at, userId),
    ];
    assert.ok(client !== undefined && user !== undefined);
    const now = ports.now();
    const grant = {
      clientId,
      userId,
      organizationId: user.organizationId,
      sessionId: "",
      ...(await targetsOf(ports, at, client, user, { scope, access: { kind: "everything" } })),
      nonce: undefined,
      claims: undefined,
      actor: undefined,
      parents: [],
      authTime: now,
      amr: ["pwd"],
      acr: undefined,
      redirectUri,
      codeChallenge: sentChallenge,
    };
    const until = new Date(now.getTime() + codeLifeMs);
    while (made.length < count) {
      const some = Array.from({ length: Math.min(together, count - made.length) }, () =>
        ports.newSecret("authorization_code"),
      );
      await Promise.all(some.map((code) => ports.tokens.storeCode(at, code, grant, until)));
      made.push(...some);
    }
  });
  return made;
}

/** Logs somebody in over the pages, as a browser does. */
async function cookieOf({ port }: Child, client: Credentials): Promise<string> {
  const issuer = `http://localhost:${port}`;
  const agent = userAgent(issuer);
  const pkce = { code_challenge: sentChallenge, code_challenge_method: "S256" };
  await agent.open(authorizeUrl({ issuer }, client, pkce));
  const { left, html } = await signIn(agent, person.preferred_username);
  assert.ok(left !== undefined, html);
  return [...agent.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}

const textsOf = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
