import { instant, int, json, table, text } from "../storage/table.ts";
import type { FlowData } from "./flow.ts";

/**
 * Browsers, each known by the digest of the one cookie it holds. `id` stays the same when the cookie is renewed, which
 * happens whenever what the browser may do changes.
 */
export const userAgents = table(
  "user_agents",
  {
    instanceId: text(),
    digest: text(),
    id: text(),
    /** The sessions of users who logged in here; the newest last. */
    sessionIds: json<string[]>(),
    createdAt: instant(),
    expiresAt: instant(),
  },
  { key: ["instanceId", "digest"], indexes: [{ columns: ["expiresAt"] }] },
);

/** When messages were sent to users at the wish of who has not proven who they are; see `message-pace.ts`. */
export const messagePaces = table(
  "message_paces",
  {
    instanceId: text(),
    userId: text(),
    message: text(),
    sent: int(),
    quietUntil: instant(),
    expiresAt: instant(),
  },
  { key: ["instanceId", "userId", "message"], indexes: [{ columns: ["expiresAt"] }] },
);

/** What the login works on: an authorization request, a logout, a device, or nothing but the login itself. */
export const loginFlows = table(
  "login_flows",
  {
    instanceId: text(),
    id: text(),
    /** The browser that works on it; empty until one does. */
    agentId: text(),
    version: int(),
    data: json<FlowData>(),
    createdAt: instant(),
    expiresAt: instant(),
  },
  { key: ["instanceId", "id"], indexes: [{ columns: ["expiresAt"] }] },
);
