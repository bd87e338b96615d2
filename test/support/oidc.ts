import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import * as oidc from "openid-client";
import { targetsOf } from "../../src/oidc/core/audience.ts";
import type { At, CodeGrant, Ports } from "../../src/oidc/core/ports.ts";
import { clientPorts } from "../../src/oidc/store/index.ts";
import { createConsents } from "../../src/resources/consent/index.ts";
import type { LoggedEvent } from "../../src/eventstore/eventstore.ts";
import type { ServiceDeps } from "../../src/app/deps.ts";
import { featureReader } from "../../src/settings/feature/index.ts";
import type { TestOptions } from "./app.ts";
import { depsTold } from "./deps.ts";
import { freePort } from "./free-port.ts";
import { bodyOf, type ResourcePeer, startPeer, uniqueName } from "./peer.ts";

export const paths = {
  discovery: "/.well-known/openid-configuration",
  keys: "/oauth/v2/keys",
  token: "/oauth/v2/token",
  introspect: "/oauth/v2/introspect",
  revoke: "/oauth/v2/revoke",
  device: "/oauth/v2/device_authorization",
  userinfo: "/oidc/v1/userinfo",
};

/** A password that no policy of these tests refuses. */
const goodPassword = "correct horse battery staple";
export const redirectUri = "https://rp.test/cb";

export type MadeClient = { appId: string; projectId: string; clientId: string; secret: string };
export type MadeMachine = { id: string; clientId: string; secret: string };
export type MadeKey = { keyId: string; privateKey: string };
// oxlint-disable-next-line no-explicit-any -- what an answer holds is for each test to know.
export type Body = any;
export type Answer = { status: number; headers: Headers; body: Body; text: string };
type Form = Record<string, string> | [string, string][];

/** A running service whose issuer is its own address, with what the abuse cases begin from. */
export type OidcPeer = ResourcePeer & {
  issuer: string;
  at: At;
  ports: Omit<Ports, "browsers" | "interactions" | "functions">;
  deps: ServiceDeps;
  /** Moves the clock of the service. */
  pass(ms: number): void;
  now(): Date;
  addClient(more?: JsonObject, app?: JsonObject): Promise<MadeClient>;
  addApi(auth: string, project_id?: string): Promise<MadeClient>;
  addPerson(more?: JsonObject, organizationId?: string): Promise<string>;
  addMachine(username?: string, more?: JsonObject, organizationId?: string): Promise<MadeMachine>;
  addKey(userId: string, more?: JsonObject): Promise<MadeKey>;
  addAppKey(appId: string, more?: JsonObject): Promise<MadeKey>;
  /** A login session of a person, by their password. */
  logIn(userId: string): Promise<string>;
  /** A code as the authorization endpoint stores it. */
  codeFor(client: MadeClient, userId: string, more?: Partial<CodeGrant>): Promise<string>;
  send(path: string, form: Form, headers?: Record<string, string>): Promise<Answer>;
  /** Redeems a new code of a client with a secret. */
  tokensFor(client: MadeClient, userId: string, more?: Partial<CodeGrant>): Promise<Body>;
  introspect(token: string, by: { clientId: string; secret: string }): Promise<Body>;
  userinfo(token: string): Promise<Answer>;
  events(...types: string[]): Promise<LoggedEvent[]>;
};

export const basic = ({ clientId, secret }: { clientId: string; secret: string }) => {
  const encode = (text: string) => encodeURIComponent(text).replaceAll("%20", "+");
  const joined = Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString("base64");
  return { authorization: `Basic ${joined}` };
};

/** What PKCE sends first, and what it proves by (RFC 7636). */
export function pkce() {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

/** Asserts a refusal in the words of OAuth: nobody learns more than the code and one printable line. */
export function assertRefused(answer: Answer, status: number, error: string): void {
  assert.equal(answer.body?.error, error, answer.text);
  assert.equal(answer.status, status);
  assert.deepEqual(Object.keys(answer.body).sort(), ["error", "error_description"]);
  assert.match(answer.body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  assert.equal(answer.headers.get("cache-control"), "no-store");
}

/**
 * Sends again what the store was too busy for, as clients do: a write that has waited for a second on a machine with much else to do is
 * refused (STORE_BUSY), and nothing has happened.
 */
export async function whileBusy(send: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await send();
    const isBusy = answer.status === 503 && answer.text.includes("the store is busy");
    if (!isBusy || attempt === 10) return answer;
    await delay(Number(answer.headers.get("retry-after") ?? 1) * 1_000);
  }
}

export async function startOidc(options: TestOptions = {}): Promise<OidcPeer> {
  let shift = 0;
  const now = () => new Date(Date.now() + shift);
  const told = depsTold();
  const port = await freePort();
  const issuer = `http://localhost:${port}`;
  const peer = await startPeer({
    now,
    ...options,
    moreModules: [told.module],
    env: { IDSVC_PORT: String(port), IDSVC_EXTERNAL_URL: issuer, ...options.env },
  });
  const { post, app } = peer;
  const deps = told.deps();
  const features = featureReader(deps.db, app.kernel.featureDefaults);
  const ports = { ...clientPorts({ ...deps, features }), consents: createConsents(deps) };
  const at: At = { instanceId: app.made.instance_id, issuer, requestId: "test" };

  const addProject = async () =>
    String(bodyOf(await post("/projects", { name: uniqueName("project") }), 201).details.id);
  async function addApp(project_id: string, kind: JsonObject): Promise<MadeClient> {
    const wanted = { name: uniqueName("app"), project_id, ...kind };
    const made = bodyOf(await post("/apps", wanted), 201);
    const secret = String(made.client_secret ?? "");
    return { appId: made.details.id, projectId: project_id, clientId: made.client_id, secret };
  }

  const sendOnce = async (path: string, form: Form, headers = {}): Promise<Answer> =>
    read(
      await fetch(`${issuer}${path}`, {
        method: "POST",
        headers,
        body: new URLSearchParams(form),
      }),
    );
  const send: OidcPeer["send"] = (...request) => whileBusy(() => sendOnce(...request));

  const made: OidcPeer = {
    ...peer,
    issuer,
    at,
    ports,
    deps,
    now,
    send,
    pass(ms) {
      shift += ms;
    },

    async addClient(more = {}, appMore = {}) {
      const project = typeof appMore["project_id"] === "string" ? appMore["project_id"] : "";
      return addApp(project === "" ? await addProject() : project, {
        ...appMore,
        oidc: {
          redirect_uris: [redirectUri],
          response_types: ["OIDC_RESPONSE_TYPE_CODE"],
          grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"],
          app_type: "OIDC_APP_TYPE_WEB",
          auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC",
          ...more,
        },
      });
    },
    addApi: async (auth, project_id) =>
      addApp(project_id ?? (await addProject()), {
        api: { auth_method_type: `API_AUTH_METHOD_TYPE_${auth}` },
      }),

    async addPerson(more = {}, organizationId) {
      const person = {
        username: uniqueName("user"),
        data: { given_name: "Ada", family_name: "Lovelace" },
        authenticators: { password: { password: goodPassword } },
        ...more,
      };
      return String(bodyOf(await post(usersOf(organizationId), person), 201).details.id);
    },
    async addMachine(username = uniqueName("machine"), more = {}, organizationId) {
      const machine = { username, schema_id: "machine", data: { name: "Robot" }, ...more };
      const id = String(bodyOf(await post(usersOf(organizationId), machine), 201).details.id);
      const { client_id, client_secret } = bodyOf(await post(`/users/${id}/secret`));
      return { id, clientId: client_id, secret: client_secret };
    },
    async addKey(userId, more = {}) {
      const { key_id, key_file } = bodyOf(await post(`/users/${userId}/public_keys`, more));
      return { keyId: key_id, privateKey: key_file?.key ?? "" };
    },
    async addAppKey(appId, more = {}) {
      const { key_id, key_file } = bodyOf(await post(`/apps/${appId}/keys`, more), 201);
      return { keyId: key_id, privateKey: key_file?.key ?? "" };
    },

    async logIn(user_id) {
      const checks = { user: { user_id }, password: { password: goodPassword } };
      return String(bodyOf(await post("/sessions", { checks }), 201).details.id);
    },

    async codeFor({ clientId }, userId, more = {}) {
      const client = await ports.clients.byId(at, clientId);
      const user = await ports.users.byId(at, userId);
      assert.ok(client !== undefined && user !== undefined);
      const scope = more.scope ?? ["openid"];
      const code = ports.newSecret("authorization_code");
      const grant: CodeGrant = {
        clientId,
        userId,
        organizationId: user.organizationId,
        sessionId: "",
        // As if the person had allowed everything on the page.
        ...(await targetsOf(ports, at, client, user, { scope, access: { kind: "everything" } })),
        nonce: undefined,
        claims: undefined,
        actor: undefined,
        parents: [],
        authTime: now(),
        amr: ["pwd"],
        acr: undefined,
        redirectUri,
        codeChallenge: undefined,
        ...more,
      };
      const expiresAt = new Date(now().getTime() + 60_000);
      await ports.tokens.storeCode(at, code, grant, expiresAt);
      return code;
    },

    async tokensFor(client, userId, more) {
      const code = await made.codeFor(client, userId, more);
      const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
      const answer = await send(paths.token, form, basic(client));
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    },

    async introspect(token, by) {
      const answer = await send(paths.introspect, { token }, basic(by));
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers.get("cache-control"), "no-store");
      return answer.body;
    },

    userinfo: async (token) =>
      read(
        await fetch(`${issuer}${paths.userinfo}`, {
          headers: { authorization: `Bearer ${token}` },
        }),
      ),

    events: (...types) => deps.events.read({ instanceId: at.instanceId, types }),
  };
  return made;
}

const usersOf = (organizationId: string | undefined) =>
  organizationId === undefined ? "/users" : `/users?ctx.org_id=${organizationId}`;

export async function read(answer: Response): Promise<Answer> {
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
  const { status, headers } = answer;
  return { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
}

/** An independent client of the service, set up by discovery. */
export const relyingParty = (
  { issuer }: Pick<OidcPeer, "issuer">,
  clientId: string,
  auth: oidc.ClientAuth,
  metadata: Partial<oidc.ClientMetadata> = {},
): Promise<oidc.Configuration> =>
  oidc.discovery(new URL(issuer), clientId, metadata, auth, {
    // oxlint-disable-next-line typescript/no-deprecated -- marked so to stand out: the service under test has no TLS.
    execute: [oidc.allowInsecureRequests],
  });
