import type { WebEndpoint } from "../api/web-endpoint.ts";
import { notFound } from "../errors.ts";
import { securitySettingsReader } from "../settings/security/index.ts";
import type { Database } from "../storage/database.ts";

/**
 * The origins whose pages may use the passkeys of the instance that was called, as browsers ask for them (related origin
 * requests, Web Authentication Level 3 section 5.11); nothing where the instance lists none.
 */
export function relatedOriginsPage(db: Database): WebEndpoint {
  const settingsOf = securitySettingsReader(db);
  return {
    path: "/.well-known/webauthn",
    methods: ["GET"],
    crossOrigin: "any",
    async handle(_, { instanceId }) {
      const { relatedOrigins } = await settingsOf(instanceId);
      if (relatedOrigins.length === 0) {
        throw notFound("RELATED_ORIGINS_NOT_FOUND", "the instance lists no related origins");
      }
      const headers = { "content-type": "application/json", "cache-control": "max-age=300" };
      return { status: 200, headers, body: JSON.stringify({ origins: relatedOrigins }) };
    },
  };
}
