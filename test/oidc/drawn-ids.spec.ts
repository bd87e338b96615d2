// Run: shared
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { issueTokens, type Wanted } from "../../src/oidc/core/issue.ts";
import type { OAuthError } from "../../src/oidc/core/errors.ts";
import type { OidcSession } from "../../src/oidc/core/ports.ts";
import { startOidc } from "../support/oidc.ts";

const service = await startOidc();
const { ports, at } = service;
after(() => service[Symbol.asyncDispose]());

const found = await ports.users.byId(at, service.app.made.admin.user_id);
assert.ok(found !== undefined);
const user = found;
const { clientId } = await service.addClient();
const functions = { add: () => ({}) };
const alone: Wanted = {
  user,
  clientId,
  client: undefined,
  scope: ["openid"],
  audience: [],
  access: undefined,
  session: undefined,
  accessToken: "opaque",
  idToken: false,
  refreshToken: false,
  spend: [],
};
const session: Omit<OidcSession, "id"> = {
  clientId,
  userId: user.id,
  organizationId: user.organizationId,
  sessionId: "",
  scope: ["openid"],
  nonce: undefined,
  authTime: ports.now(),
  amr: ["pwd"],
  acr: undefined,
  audience: [],
  access: undefined,
  claims: undefined,
  actor: undefined,
  parents: [],
};

/** Issues with these ids and then others; gives the token, and how many ids were drawn. */
async function issue(wanted: Wanted, ids: readonly string[]) {
  let drawn = 0;
  const newId = () => ids[drawn++] ?? ports.newId();
  const issued = await issueTokens({ ...ports, functions, newId }, at, wanted);
  assert.ok(issued.outcome === "issued");
  const token = await ports.tokens.accessToken(at, issued.fields.access_token ?? "");
  assert.ok(token !== undefined);
  return { token, drawn };
}

it("makes a token anew whose id another process has drawn too", async () => {
  const first = await issue(alone, []);
  const { token, drawn } = await issue(alone, [first.token.id, first.token.id]);
  assert.equal(drawn, 3);
  assert.notEqual(token.id, first.token.id);
});

it("opens a session under another id where its own is in use", async () => {
  const wanted = { ...alone, session: { open: session } };
  const first = await issue(wanted, []);
  const { token } = await issue(wanted, [first.token.oidcSessionId]);
  assert.notEqual(token.oidcSessionId, first.token.oidcSessionId);
});

it("knows the id of an ID token whose audience is kept", async () => {
  const expiresAt = new Date(ports.now().getTime() + 60_000);
  const idToken = { id: ports.newId(), audience: [], expiresAt };
  const wanted = { user, clientId, session: undefined, spend: [], idToken };
  const bare = { ...wanted, accessToken: undefined, refreshToken: undefined };
  assert.deepEqual(await ports.tokens.issue(at, bare), { outcome: "issued" });
  assert.deepEqual(await ports.tokens.issue(at, bare), { outcome: "taken" });
});

it("gives up where no id that is drawn is free", async () => {
  const { token } = await issue(alone, []);
  await assert.rejects(
    issueTokens({ ...ports, functions, newId: () => token.id }, at, alone),
    (error: OAuthError) => error.code === "temporarily_unavailable" && error.status === 503,
  );
});
