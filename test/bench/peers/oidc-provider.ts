// oidc-provider over a plain Map: what it bundles keeps a thousand entries and evicts refresh tokens under load.
// `oidc-provider.ts`; POST /prepare?codes=<n> tells of codes and of a session that it has made.
import { generateKeyPairSync } from "node:crypto";
import http from "node:http";
import { type Adapter, type AdapterPayload, Provider } from "oidc-provider";
import { peerClients as clients, person, redirectUri, sentChallenge } from "../oidc-requests.ts";
import { host, port } from "./place.ts";

const rows = new Map<string, AdapterPayload>();
const uids = new Map<string, string>();
const now = () => Math.floor(Date.now() / 1000);

class PlainMap implements Adapter {
  readonly #kind: string;
  constructor(kind: string) {
    this.#kind = kind;
  }
  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    rows.set(this.#kind + id, payload);
    if (this.#kind === "Session" && payload.uid !== undefined) uids.set(payload.uid, id);
  }
  async find(id: string): Promise<AdapterPayload | undefined> {
    return rows.get(this.#kind + id);
  }
  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.find(uids.get(uid) ?? "");
  }
  async findByUserCode(): Promise<undefined> {}
  async consume(id: string): Promise<void> {
    const row = rows.get(this.#kind + id);
    if (row !== undefined) row.consumed = now();
  }
  async destroy(id: string): Promise<void> {
    rows.delete(this.#kind + id);
  }
  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [id, row] of rows) if (row.grantId === grantId) rows.delete(id);
  }
}

const key = (pair: ReturnType<typeof generateKeyPairSync>, alg: string) => ({
  ...pair.privateKey.export({ format: "jwk" }),
  alg,
  use: "sig",
  kid: alg,
});
const authMethod = "client_secret_basic" as const;
const machine = ({ clientId, secret }: { clientId: string; secret: string }) => ({
  client_id: clientId,
  client_secret: secret,
  token_endpoint_auth_method: authMethod,
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
});
const { web, opaque, rs256, es256 } = clients;
const resources = { [rs256.clientId]: "RS256", [es256.clientId]: "ES256" } as const;
const account = (id: string) => ({ accountId: id, claims: () => ({ ...person, sub: id }) });

const provider = new Provider(`http://${host}:${port}`, {
  adapter: PlainMap,
  jwks: {
    keys: [
      key(generateKeyPairSync("ec", { namedCurve: "P-256" }), "ES256"),
      key(generateKeyPairSync("rsa", { modulusLength: 2048 }), "RS256"),
    ],
  },
  clients: [
    ...[opaque, rs256, es256].map(machine),
    {
      client_id: web.clientId,
      client_secret: web.secret,
      token_endpoint_auth_method: authMethod,
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      id_token_signed_response_alg: "ES256",
    },
  ],
  scopes: ["openid", "offline_access", "profile", "email"],
  claims: {
    openid: ["sub"],
    email: ["email", "email_verified"],
    profile: ["name", "given_name", "family_name", "preferred_username", "updated_at"],
  },
  findAccount: (_, id) => account(id),
  rotateRefreshToken: true,
  pkce: { required: () => true },
  ttl: { AuthorizationCode: 3_600, Session: 86_400, Grant: 86_400, RefreshToken: 86_400 },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_, client) =>
        client !== undefined && client.clientId in resources ? `urn:${client.clientId}` : [],
      getResourceServerInfo: (_, __, client) => ({
        scope: "profile",
        audience: client.clientId,
        accessTokenFormat: "jwt",
        jwt: { sign: { alg: client.clientId === rs256.clientId ? "RS256" : "ES256" } },
      }),
    },
  },
});

async function grantOf(scope: string): Promise<string> {
  const grant = new provider.Grant({ accountId: person.sub, clientId: web.clientId });
  grant.addOIDCScope(scope);
  return grant.save();
}

async function codes(count: number, scope: string): Promise<string[]> {
  const client = await provider.Client.find(web.clientId);
  if (client === undefined) throw new Error("the client is configured");
  const grantId = await grantOf(scope);
  const made: string[] = [];
  for (let at = 0; at < count; at++) {
    const code = new provider.AuthorizationCode({
      client,
      accountId: person.sub,
      redirectUri,
      grantId,
      gty: "authorization_code",
      authTime: now(),
      codeChallenge: sentChallenge,
      codeChallengeMethod: "S256",
      scope,
    });
    made.push(await code.save());
  }
  return made;
}

async function session(): Promise<string> {
  const grantId = await grantOf("openid");
  const made = new provider.Session();
  made.accountId = person.sub;
  made.loginTs = now();
  made.authorizations = { [web.clientId]: { sid: "one", grantId, persistsLogout: false } };
  return `_session=${await made.save(86_400)}`;
}

const callback = provider.callback();
http
  .createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", `http://${host}`);
    if (pathname !== "/prepare") {
      void callback(request, response);
      return;
    }
    const asked = codes(Number(searchParams.get("codes")), searchParams.get("scope") ?? "openid");
    void Promise.all([asked, session()]).then(([made, cookie]) =>
      response.end(JSON.stringify({ codes: made, cookie })),
    );
  })
  .listen(port, host);
