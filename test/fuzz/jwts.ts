import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { forgeJwt } from "../support/forge.ts";
import { addPersonNamed, authorizeUrl, signedIn } from "../support/login.ts";
import { basic, type MadeKey, type OidcPeer, paths } from "../support/oidc.ts";
import { answerOf } from "../support/user-agent.ts";
import { mutations, type Original, publicPemOf } from "./jwt-mutations.ts";
import { requireCleanPrototypes } from "./oracle.ts";
import type { Target } from "./target.ts";

const goodbye = "https://rp.test/bye";
const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const exchange = "urn:ietf:params:oauth:grant-type:token-exchange";

/** A place that takes a JWT: makes one that counts there, and tells whether one counts. */
type Entry = {
  original(): Promise<Original>;
  isTaken(jwt: string): Promise<boolean>;
  /** What goes into a header cannot be any text. */
  isHeader?: boolean;
};

/** Whether a request for tokens was granted; any refusal must be one of these. */
async function isGranted(
  { send }: OidcPeer,
  form: Record<string, string>,
  headers: Record<string, string>,
  ...errors: string[]
): Promise<boolean> {
  const { status, body, text } = await send(paths.token, form, headers);
  if (status === 200) return true;
  assert.ok(errors.includes(body?.error), text);
  return false;
}

async function entriesOf(peer: OidcPeer): Promise<Record<string, Entry>> {
  const web = await peer.addClient({
    access_token_type: "OIDC_TOKEN_TYPE_JWT",
    post_logout_redirect_uris: [goodbye],
    grant_types: [
      "OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
      "OIDC_GRANT_TYPE_REFRESH_TOKEN",
      "OIDC_GRANT_TYPE_TOKEN_EXCHANGE",
    ],
  });
  const keyed = await peer.addClient({ auth_method_type: "OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT" });
  const keyedKey = await peer.addAppKey(keyed.appId);
  const robot = await peer.addMachine();
  const robotKey = await peer.addKey(robot.id);
  const [alice, bob] = [await addPersonNamed(peer), await addPersonNamed(peer)];
  const agent = await signedIn(peer, web, alice.loginName);
  const scope = ["openid", "profile", "urn:idsvc:iam:org:project:id:idsvc:aud"];
  const tokens = await peer.tokensFor(web, bob.id, { scope });
  const others = [tokens.access_token, tokens.id_token];
  const signer = await peer.ports.keys.signer(peer.at, "RS256");
  const publicPem = publicPemOf(String(signer.key.export({ type: "pkcs8", format: "pem" })));

  const issued = (jwt: string) => async () => ({ jwt, publicPem, others });
  const signed = (key: MadeKey, iss: string, withJti: boolean) => async () => {
    const now = Math.floor(peer.now().getTime() / 1000);
    const claims = { iss, sub: iss, aud: peer.issuer, iat: now, exp: now + 300 };
    // Without a jti it goes by a digest of itself, where that is enough.
    const own = withJti ? { jti: randomUUID() } : { told: randomUUID() };
    const header = { alg: "RS256", kid: key.keyId };
    const jwt = forgeJwt(header, { ...claims, ...own }, key.privateKey);
    return { jwt, publicPem: publicPemOf(key.privateKey), others };
  };
  const exchanged = (type: string, original: Entry["original"]): Entry => ({
    original,
    isTaken: async (subject_token) => {
      const subject_token_type = `urn:ietf:params:oauth:token-type:${type}`;
      const form = { grant_type: exchange, scope: "openid", subject_token, subject_token_type };
      return isGranted(peer, form, basic(web), "invalid_request");
    },
  });
  return {
    userinfo: {
      isHeader: true,
      original: issued(tokens.access_token),
      isTaken: async (jwt) => (await peer.userinfo(jwt)).status === 200,
    },
    introspection: {
      original: issued(tokens.access_token),
      isTaken: async (jwt) => (await peer.introspect(jwt, web)).active === true,
    },
    api: {
      isHeader: true,
      original: issued(tokens.access_token),
      isTaken: async (token) => (await peer.get(`/users/${bob.id}`, { token })).status === 200,
    },
    "end of session": {
      original: issued(tokens.id_token),
      async isTaken(id_token_hint) {
        const asked = new URLSearchParams({ id_token_hint, post_logout_redirect_uri: goodbye });
        const path = `${peer.issuer}/oidc/v1/end_session?${asked}`;
        const { headers } = await fetch(path, { redirect: "manual" });
        return headers.get("location")?.startsWith(goodbye) === true;
      },
    },
    "hint at authorize": {
      original: issued(tokens.id_token),
      async isTaken(id_token_hint) {
        const shown = await agent.open(authorizeUrl(peer, web, { prompt: "none", id_token_hint }));
        // A hint that counts names bob, whom this browser does not know.
        return answerOf(shown).get("error") === "login_required";
      },
    },
    "client assertion": {
      original: signed(keyedKey, keyed.clientId, true),
      isTaken: async (client_assertion) => {
        const form = {
          grant_type: "authorization_code",
          code: "none",
          redirect_uri: "https://a.test",
        };
        const proof = { client_assertion, client_assertion_type: assertionType };
        const { body, text } = await peer.send(paths.token, { ...form, ...proof });
        assert.ok(
          ["invalid_client", "invalid_grant", "invalid_request"].includes(body?.error),
          text,
        );
        // An unknown code is found out after the proof of the client.
        return body.error === "invalid_grant";
      },
    },
    "jwt-bearer": {
      original: signed(robotKey, robot.id, false),
      isTaken: (assertion) => {
        const form = { grant_type: jwtBearer, assertion, scope: "openid" };
        return isGranted(peer, form, {}, "invalid_grant", "invalid_request");
      },
    },
    "subject id_token": exchanged("id_token", issued(tokens.id_token)),
    "subject access_token": exchanged("access_token", issued(tokens.access_token)),
  };
}

/** JWTs that count, changed in any way: none counts anywhere unless it is what it was, and that still counts. */
export const jwts: Target = {
  name: "jwts",
  share: 2,
  property: (peer) => {
    const known = entriesOf(peer);
    known.catch(() => {});
    return fc.asyncProperty(fc.nat(), mutations, async (at, mutate) => {
      const all = Object.entries(await known);
      const [name, entry] = all[at % all.length] ?? [];
      assert.ok(name !== undefined && entry !== undefined);
      const original = await entry.original();
      const jwt = mutate(original);
      if (entry.isHeader === true && (/[^\x21-\x7e]/.test(jwt) || jwt.length > 8_000)) return;
      if (jwt !== original.jwt && jwt.trim() !== original.jwt) {
        assert.equal(await entry.isTaken(jwt), false, `${name} took ${jwt}`);
      }
      assert.equal(await entry.isTaken(original.jwt), true, `${name} refused ${original.jwt}`);
      requireCleanPrototypes();
    });
  },
};
