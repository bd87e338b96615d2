import { seenColumns } from "../../../eventstore/seen.ts";
import { instant, int, json, optionalText, table, text } from "../../../storage/table.ts";

/** What was refused, one row for all of one minute that are alike. They are no events, so that floods end with them. */
export const refusals = table(
  "refusals",
  {
    instanceId: text(),
    id: text(),
    kind: text(),
    reason: text(),
    operation: text(),
    userId: optionalText(),
    clientId: optionalText(),
    idpId: optionalText(),
    /** Whose it is to see; empty where it is the instance's alone. */
    organizationId: text(),
    count: int(),
    firstAt: instant(),
    lastAt: instant(),
    personId: optionalText(),
    sessionId: optionalText(),
    flowId: optionalText(),
    familyId: optionalText(),
    actorIds: json<readonly string[]>(),
    ...seenColumns,
    expiresAt: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "lastAt", "id"] },
      { columns: ["instanceId", "userId"] },
      { columns: ["instanceId", "personId"] },
      { columns: ["expiresAt"] },
    ],
  },
);
