import { targetsOf } from "../audience.ts";
import { formOf, grantedScope, issueTokens, type SessionData } from "../issue.ts";
import type { Ports } from "../ports.ts";
import { isKnownScope } from "../scope.ts";
import type { Authorize } from "./proceed.ts";
import { acrOf } from "./acr.ts";
import { refuse } from "./refusal.ts";

/**
 * What the client gets for a request whose user is known: a code (OpenID Connect Core 1.0 section 3.1.2.5), or the tokens
 * themselves (section 3.2.2.5). Scopes that nobody knows are left out.
 */
export const authorizer =
  (ports: Ports): Authorize =>
  async (at, { request, client, session }) => {
    const { tokens, settings, now, newSecret } = ports;
    const { user, id: sessionId, authTime, amr } = session;
    const { responseType, nonce, claims, redirectUri, codeChallenge } = request;
    const isCode = responseType === "code";
    const asked = grantedScope(client, request.scope.filter(isKnownScope)).filter(
      (word) => isCode || word !== "offline_access",
    );
    const power = await ports.consents.apiPower(at, user, client);
    const targets = await targetsOf(ports, at, client, user, { scope: asked, access: power });
    const { scope, audience, access } = targets;
    const allowed: SessionData = {
      clientId: client.clientId,
      userId: user.id,
      organizationId: user.organizationId,
      sessionId,
      scope,
      audience,
      access,
      nonce,
      claims,
      authTime,
      amr,
      acr: acrOf(request, session),
      actor: undefined,
      parents: [],
    };
    if (isCode) {
      const code = newSecret("authorization_code");
      const { codeMs } = await settings.lifetimes(at, client.organizationId);
      const expiresAt = new Date(now().getTime() + codeMs);
      await tokens.storeCode(at, code, { ...allowed, redirectUri, codeChallenge }, expiresAt);
      return { code };
    }
    const issued = await issueTokens(ports, at, {
      user,
      clientId: client.clientId,
      client,
      scope,
      audience,
      access,
      session: { open: allowed },
      accessToken: responseType === "id_token token" ? formOf(client) : undefined,
      idToken: true,
      refreshToken: false,
      spend: [],
    });
    if (issued.outcome !== "issued") throw refuse("login_required", "the session has just ended");
    const { expires_in: seconds, ...fields } = issued.fields;
    return { ...fields, expires_in: String(seconds) };
  };
