import { invalidGrant } from "../../errors.ts";
import { required } from "../../form.ts";
import { formOf, grantedScope, issueTokens } from "../../issue.ts";
import { provesChallenge } from "../../pkce.ts";
import type { At } from "../../ports.ts";
import { type Grant, newer, type TokenParts } from "../grant.ts";
import { activeUser, fieldsOf } from "../outcome.ts";

/** RFC 6749 section 4.1.3 with PKCE (RFC 7636). A code that comes twice ends what came of it the first time. */
export const authorizationCode: Grant = {
  name: "authorization_code",
  appGrant: "authorization_code",
  async handle(parts, { form, at, client, spend }) {
    const value = required(form, "code");
    const redirectUri = required(form, "redirect_uri");
    const code = await parts.tokens.code(at, value);
    if (code === undefined || code.grant.clientId !== client.clientId) {
      const detail =
        code === undefined
          ? `the code is unknown${newer(parts, value)}`
          : "the code was issued to another client";
      throw invalidGrant("the code is unknown, or was issued to another client", detail);
    }
    const { digest, grant, spentBy } = code;
    if (spentBy !== undefined) throw await codeReused(parts, at, spentBy);
    if (code.expiresAt <= parts.now()) throw invalidGrant("the code has expired");
    if (grant.redirectUri !== redirectUri) {
      throw invalidGrant("the redirect URI is not that of the authorization request");
    }
    if (!provesChallenge(grant.codeChallenge, form.get("code_verifier"))) {
      throw invalidGrant("the code verifier does not fit the authorization request");
    }
    const user = await activeUser(parts, at, client, grant.userId);
    const scope = grantedScope(client, grant.scope);
    const { redirectUri: _, codeChallenge: __, ...session } = grant;
    const issued = await issueTokens(parts, at, {
      user,
      client,
      clientId: client.clientId,
      scope,
      audience: grant.audience,
      access: grant.access,
      session: { open: { ...session, scope } },
      accessToken: formOf(client),
      idToken: scope.includes("openid"),
      refreshToken: scope.includes("offline_access"),
      spend: [...spend, { kind: "code", digest }],
    });
    if (issued.outcome === "spent" && issued.by === "code") {
      const winner = (await parts.tokens.code(at, value))?.spentBy;
      throw await codeReused(parts, at, winner ?? "");
    }
    return fieldsOf(issued);
  },
};

async function codeReused({ tokens }: TokenParts, at: At, sessionId: string) {
  await tokens.endSession(at, sessionId, "code_reused");
  return invalidGrant("the code was used before: what was issued for it has ended");
}
