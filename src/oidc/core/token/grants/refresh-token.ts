import { invalidGrant } from "../../errors.ts";
import { required } from "../../form.ts";
import { formOf, issueTokens } from "../../issue.ts";
import type { At } from "../../ports.ts";
import { invalidScope, readScope } from "../../scope.ts";
import { type Grant, newer, type TokenParts } from "../grant.ts";
import { activeUser, fieldsOf } from "../outcome.ts";

/**
 * RFC 6749 section 6, with rotation (RFC 9700 section 4.14.2): a refresh token counts once, and one that comes again ends
 * its whole family.
 */
export const refreshToken: Grant = {
  name: "refresh_token",
  appGrant: "refresh_token",
  async handle(parts, { form, at, client, spend }) {
    const value = required(form, "refresh_token");
    const found = await parts.tokens.refreshToken(at, value);
    if (found === undefined || found.session.clientId !== client.clientId) {
      throw invalidGrant(
        "the refresh token is unknown or revoked, or was issued to another client",
        found === undefined
          ? `the refresh token is unknown or revoked, or its provider is off${newer(parts, value)}`
          : "the refresh token was issued to another client",
      );
    }
    const { digest, session, isSpent, idleExpiresAt, expiresAt } = found;
    if (isSpent) throw await replayed(parts, at, session.id);
    const now = parts.now();
    if (idleExpiresAt <= now || expiresAt <= now)
      throw invalidGrant("the refresh token has expired");
    const asked = form.get("scope");
    const scope = asked === undefined ? session.scope : readScope(asked);
    const isWithin = scope.every((each) => session.scope.includes(each));
    if (!isWithin) throw invalidScope("the scope exceeds what was granted at first");
    const user = await activeUser(parts, at, client, session.userId);
    const issued = await issueTokens(parts, at, {
      user,
      client,
      clientId: client.clientId,
      scope,
      audience: session.audience,
      access: session.access,
      session: { renew: session, refreshEnd: expiresAt },
      accessToken: formOf(client),
      idToken: scope.includes("openid"),
      refreshToken: true,
      spend: [...spend, { kind: "refresh_token", digest }],
    });
    if (issued.outcome === "spent" && issued.by === "refresh_token") {
      throw await replayed(parts, at, session.id);
    }
    return fieldsOf(issued);
  },
};

async function replayed({ tokens }: TokenParts, at: At, sessionId: string) {
  await tokens.endSession(at, sessionId, "refresh_token_reused");
  return invalidGrant("the refresh token was used before: its whole family has ended");
}
