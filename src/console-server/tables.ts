import { instant, table, text } from "../storage/table.ts";

/** What browsers are signed in to the console with: by the digest of their cookie, sealed tokens that never leave the service. */
export const consoleSessions = table(
  "console_sessions",
  {
    instanceId: text(),
    digest: text(),
    tokens: text(),
    seenAt: instant(),
    expiresAt: instant(),
  },
  { key: ["instanceId", "digest"], indexes: [{ columns: ["expiresAt"] }] },
);
