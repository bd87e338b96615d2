import type { Kept } from "../../../federation/index.ts";
import { onlySecretOf } from "../../../eventstore/secret-store.ts";
import { bool, instant, json, type Row, table, text } from "../../../storage/table.ts";

/**
 * Logins with providers, from their start until an hour after their success. What a provider said is sealed beside, in the
 * secrets; of `state` and token there are only digests.
 */
export const idpIntents = table(
  "idp_intents",
  {
    instanceId: text(),
    id: text(),
    idpId: text(),
    /** The organization whose view of the provider counts; empty for the instance. */
    organizationId: text(),
    /** waiting, then answered (once), then succeeded. */
    phase: text(),
    stateDigest: text(),
    /** What the answer of the provider is judged by. */
    kept: json<Kept>(),
    /** The flow of the hosted login that it belongs to; empty where a login page of somebody's own began it. */
    flowId: text(),
    successUrl: text(),
    failureUrl: text(),
    tokenDigest: text(),
    isRetrieved: bool(),
    createdAt: instant(),
    expiresAt: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [{ columns: ["instanceId", "stateDigest"] }, { columns: ["expiresAt"] }],
  },
);

export type IntentRow = Row<typeof idpIntents>;

/** What a provider said of who logged in, and the tokens it gave: as JSON. */
export const identityRef = onlySecretOf("idp_intent", "idp_identity");
