import { randomBytes } from "node:crypto";
import { conflictOfFlows } from "./refusals.ts";
import type { Deps } from "../projection/module.ts";
import { Conflict } from "../storage/database.ts";
import { and, eq } from "../storage/drizzle.ts";
import { deleteRows, insertRow, updateRows } from "../storage/row-change.ts";
import type { Flow, FlowData } from "./flow.ts";
import { loginFlows } from "./tables.ts";

const lifeMs = 60 * 60_000;

export type FlowStore = {
  /** A new flow, of this browser or of none yet. */
  create(instanceId: string, agentId: string, data: FlowData): Promise<Flow>;
  /** A flow that has not expired; whose it is the caller looks at. */
  load(instanceId: string, id: string): Promise<Flow | undefined>;
  /**
   * Changes a flow, and hands it to a browser if it had none.
   * @throws ABORTED LOGIN_FLOW_CHANGED when it was changed meanwhile
   */
  save(instanceId: string, flow: Flow, data: FlowData, agentId?: string): Promise<Flow>;
  /** Ends a flow; false when somebody else did. */
  take(instanceId: string, id: string): Promise<boolean>;
};

export function createFlowStore({ db, now }: Pick<Deps, "db" | "now">): FlowStore {
  const t = db.table(loginFlows);
  const none = { claims: [], events: [] };

  const load: FlowStore["load"] = async (instanceId, id) => {
    const [row] = await db.read
      .select()
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.id, id)));
    return row === undefined || row.expiresAt <= now() ? undefined : row;
  };

  return {
    async create(instanceId, agentId, data) {
      const createdAt = now();
      const flow = {
        id: randomBytes(24).toString("base64url"),
        agentId,
        version: 1,
        data,
        createdAt,
      };
      const expiresAt = new Date(createdAt.getTime() + lifeMs);
      const changes = [insertRow(loginFlows, { instanceId, ...flow, expiresAt })];
      await db.commit({ instanceId, ...none, expect: [], changes });
      return flow;
    },

    load,

    async save(instanceId, flow, data, agentId = flow.agentId) {
      const where = { instanceId, id: flow.id, version: flow.version };
      const version = flow.version + 1;
      const changes = [updateRows(loginFlows, where, { version, data, agentId })];
      const expect = [{ kind: "rows" as const, table: loginFlows, where, count: 1 }];
      await db.commit({ instanceId, ...none, expect, changes }).catch((error: unknown) => {
        throw error instanceof Conflict ? conflictOfFlows(error) : error;
      });
      return { ...flow, version, data, agentId };
    },

    async take(instanceId, id) {
      const where = { instanceId, id };
      const expect = [{ kind: "rows" as const, table: loginFlows, where, count: 1 }];
      const changes = [deleteRows(loginFlows, where)];
      try {
        await db.commit({ instanceId, ...none, expect, changes });
        return true;
      } catch (error) {
        if (error instanceof Conflict) return false;
        throw error;
      }
    },
  };
}
