import { whenKnown } from "../../awaitable.ts";
import type { TokenVerifier } from "../../authz/ports.ts";
import type { Settings, Tokens, Users } from "../core/ports.ts";

/**
 * Recognises access tokens at the APIs (decisions B5): those that were made for the service's own project, while they
 * live and their users and clients are active.
 */
export const oidcAccessTokens =
  (ports: {
    tokens: Pick<Tokens, "accessToken">;
    users: Pick<Users, "byId">;
    settings: Pick<Settings, "ownProjectId">;
  }): TokenVerifier =>
  (value, { instanceId, issuer }) => {
    const at = { instanceId, issuer, requestId: "" };
    return whenKnown(ports.tokens.accessToken(at, value), (token) => {
      if (token === undefined) return undefined;
      return whenKnown(ports.settings.ownProjectId(at), (ownProject) => {
        if (!token.audience.includes(ownProject)) return undefined;
        return whenKnown(ports.users.byId(at, token.userId), (user) => {
          if (user === undefined) return undefined;
          const { id: userId, organizationId } = user;
          const { clientId } = token;
          return { kind: "user", userId, organizationId, tokenKind: "access_token", clientId };
        });
      });
    });
  };
