import {
  assertionUsed,
  authenticateClient,
  authenticateMachine,
  type Credentials,
  invalidClient,
  readCredentials,
} from "./client-auth/index.ts";
import type { Endpoint } from "./endpoint.ts";
import { asClient, invalidGrant } from "./errors.ts";
import { readForm, required } from "./form.ts";
import { noStore } from "./http.ts";
import { revocationPath } from "./paths.ts";
import type { At } from "./ports.ts";
import type { TokenParts } from "./token/grant.ts";

/**
 * Token revocation (RFC 7009): an access token ends alone, a refresh token with its session. Tokens that are unknown or
 * gone are a success; those of another client are refused and live on. A store that fails is an error.
 */
export const revocationEndpoint = (parts: TokenParts): Endpoint => ({
  metadata: "revocation_endpoint",
  path: revocationPath,
  methods: ["POST"],
  caller: "client",
  crossOrigin: "apps",
  isChange: true,
  async handle(request, at) {
    const form = await readForm(request);
    const client = await clientOf(parts, at, readCredentials(request, form));
    await asClient(client, () => revoke(parts, at, client.clientId, required(form, "token")));
    return { status: 200, headers: { ...noStore }, body: "" };
  },
});

async function revoke({ tokens }: TokenParts, at: At, clientId: string, value: string) {
  const access = await tokens.accessToken(at, value);
  const owner = access?.clientId ?? (await tokens.refreshToken(at, value))?.session.clientId;
  if (owner !== undefined && owner !== clientId) {
    throw invalidGrant("the token was issued to another client");
  }
  if (owner !== undefined) await tokens.revoke(at, value);
}

/** The client; a machine user, which is one by itself, where no app has the id. */
async function clientOf(
  parts: TokenParts,
  at: At,
  credentials: Credentials,
): Promise<{ clientId: string; hasProven: boolean }> {
  const { clientId = "" } = credentials;
  if ((await parts.clients.byId(at, clientId)) === undefined) {
    const machine = await authenticateMachine(parts, at, credentials);
    if (machine !== undefined) return { clientId: machine.clientId, hasProven: true };
  }
  const { client, hasProven, spend } = await authenticateClient(parts, at, credentials);
  for (const assertion of spend) {
    if (await parts.tokens.spend(at, assertion)) continue;
    throw invalidClient(false, { client, clientId: client.clientId, detail: assertionUsed });
  }
  return { clientId: client.clientId, hasProven };
}
