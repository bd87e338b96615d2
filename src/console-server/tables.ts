import { instant, optionalInstant, table, text } from "../storage/table.ts";

/** What browsers are signed in to the console with: by the digest of their cookie, sealed tokens that never leave the service. */
export const consoleSessions = table(
  "console_sessions",
  {
    instanceId: text(),
    digest: text(),
    tokens: text(),
    /** Absent in those of a version that did not store it. */
    openedAt: optionalInstant(),
    seenAt: instant(),
    /** When it ends without a call, by the limit of when it was last noted that somebody is there. Absent as above. */
    idleUntil: optionalInstant(),
    /** When its token ends, or it by the limit of when it was opened. */
    expiresAt: instant(),
  },
  { key: ["instanceId", "digest"], indexes: [{ columns: ["expiresAt"] }] },
);
