import { randomBytes } from "node:crypto";
import { conflictOfFlows } from "./refusals.ts";
import type { Deps } from "../projection/module.ts";
import { rowByKey } from "../projection/ids.ts";
import { Conflict } from "../storage/database.ts";
import { insertRow, type RowChange, updateRows } from "../storage/row-change.ts";
import { currentSpan } from "../telemetry/tracing.ts";
import type { Flow, FlowData, Waiting } from "./flow.ts";
import { loginFlows } from "./tables.ts";

const lifeMs = 60 * 60_000;
const unenteredLifeMs = 10 * 60_000;
const longestId = 32;
/** Of addresses that hold a flow. */
export const longestAddress = 4_096;
const mostTries = 3;

export type Saving = {
  /** The browser that it is of from now on. */
  agentId?: string;
  /** Somebody has entered something: the flow is stored, if it was not. */
  isEntered: boolean;
};

/**
 * Flows. One of which nothing has been entered costs no row: it rides sealed in the address (J12a). The row that it
 * gets then outlives the address, also when the flow is over; so that one address never makes two flows.
 */
export type FlowStore = {
  /** A new flow, of this browser or of none yet. Only what is too long for an address gets a row, for ten minutes. */
  begin(instanceId: string, agentId: string, data: FlowData): Promise<Flow>;
  /** A flow that is neither over nor expired, by its address; whose it is the caller looks at. */
  load(instanceId: string, address: string): Promise<Flow | undefined>;
  /**
   * Changes a flow, and hands it to a browser if it had none.
   * @throws ABORTED LOGIN_FLOW_CHANGED when it was changed meanwhile
   */
  save(instanceId: string, flow: Flow, data: FlowData, saving: Saving): Promise<Flow>;
  /** The same flow with a short address: a row for ten minutes, as one gets that is too long for an address. */
  shorten(instanceId: string, flow: Flow): Promise<Flow>;
  /** The application that waited for a flow of this browser which is over or has expired, as long as that is known. */
  waitedFor(instanceId: string, agentId: string, address: string): Promise<Waiting | undefined>;
  /** Ends a flow; false when somebody else did. What was never stored has nothing to end. */
  take(instanceId: string, address: string): Promise<boolean>;
};

type RowById = ReturnType<typeof rowByKey<typeof loginFlows>>;

/** What an address holds. */
type Sealed = { id: string; agentId: string; createdAt: number; data: FlowData };

export function createFlowStore({
  db,
  secrets,
  now,
}: Pick<Deps, "db" | "secrets" | "now">): FlowStore {
  const rowById = rowByKey(db, loginFlows);

  async function seal(
    instanceId: string,
    flow: Pick<Flow, "id" | "agentId" | "data" | "createdAt">,
  ): Promise<Flow> {
    const { id, agentId, data, createdAt } = flow;
    const sealed: Sealed = { id, agentId, createdAt: createdAt.getTime(), data };
    const clear = Buffer.from(JSON.stringify(sealed));
    const address = await secrets.sealText(instanceId, "flow", clear);
    if (address.length <= longestAddress)
      return { ...flow, version: 0, address, isPersisted: false };
    return insert(db, instanceId, flow, new Date(now().getTime() + unenteredLifeMs));
  }

  const load = loaderOf({ secrets, now }, rowById);

  return {
    load,

    begin(instanceId, agentId, data) {
      const id = randomBytes(24).toString("base64url");
      const begun = inTrace(data, currentSpan()?.headers()["traceparent"]);
      return seal(instanceId, { id, agentId, data: begun, createdAt: now() });
    },

    async save(instanceId, flow, changed, { agentId = flow.agentId, isEntered }) {
      const { id, version, createdAt } = flow;
      const data = inTrace(changed, flow.data.trace);
      const saved = { ...flow, agentId, data };
      if (!flow.isPersisted) {
        return isEntered
          ? insert(db, instanceId, saved, endOf(createdAt))
          : seal(instanceId, saved);
      }
      const values = {
        version: version + 1,
        data,
        agentId,
        ...(isEntered ? { expiresAt: endOf(createdAt) } : {}),
      };
      const change = updateRows(loginFlows, { instanceId, id, version }, values);
      await commit(db, instanceId, { id, version }, 1, change).catch(changedMeanwhile);
      return { ...saved, version: version + 1 };
    },

    async shorten(instanceId, flow) {
      const expiresAt = new Date(now().getTime() + unenteredLifeMs);
      try {
        return await insert(db, instanceId, flow, expiresAt);
      } catch (error) {
        // The same address was opened twice at once.
        const stored = await load(instanceId, flow.id);
        if (stored === undefined) throw error;
        return stored;
      }
    },

    async waitedFor(instanceId, agentId, address) {
      const sealed =
        address.length > longestId ? await unseal(secrets, instanceId, address) : undefined;
      const found = (await rowById(instanceId, sealed?.id ?? address)) ?? sealed;
      return found?.agentId === agentId ? (found.data.waited ?? found.data.request) : undefined;
    },

    async take(instanceId, address) {
      for (let tries = 0; tries < mostTries; tries += 1) {
        const flow = await load(instanceId, address);
        if (flow === undefined) return false;
        if (!flow.isPersisted) return true;
        const { id, version } = flow;
        const { clientId, redirectUri } = flow.data.request ?? {};
        const known = clientId !== undefined && redirectUri !== undefined;
        const waited = known ? { waited: { clientId, redirectUri } } : {};
        const over = { version: version + 1, data: { isOver: true as const, ...waited } };
        const change = updateRows(loginFlows, { instanceId, id, version }, over);
        if (await isCommitted(commit(db, instanceId, { id, version }, 1, change))) return true;
      }
      return false;
    },
  };
}

/** All requests of a flow are of one trace: that of the one that began it. */
function loaderOf(
  { secrets, now }: Pick<Deps, "secrets" | "now">,
  rowById: RowById,
): FlowStore["load"] {
  async function stored(instanceId: string, address: string): Promise<Flow | undefined> {
    const sealed =
      address.length > longestId
        ? await unseal(secrets, instanceId, address)
        : { id: address, isKept: true };
    if (sealed === undefined) return undefined;
    const row = await rowById(instanceId, sealed.id);
    if ("data" in sealed && endOf(sealed.createdAt) <= now()) return undefined;
    if (row === undefined) return "data" in sealed ? sealed : undefined;
    const { id, agentId, version, data, createdAt } = row;
    if (row.expiresAt <= now() || data.isOver === true) return undefined;
    return { id, agentId, version, data, createdAt, address: id, isPersisted: true };
  }

  return async (instanceId, address) => {
    const flow = await stored(instanceId, address);
    const traceparent = flow?.data.trace;
    if (traceparent !== undefined) currentSpan()?.join({ traceparent });
    return flow;
  };
}

const inTrace = (data: FlowData, trace: string | undefined): FlowData =>
  trace === undefined ? data : { ...data, trace };

/** @throws Conflict */
const commit = (
  db: Deps["db"],
  instanceId: string,
  where: { id: string; version?: number },
  count: number,
  change: RowChange,
) =>
  db.commit({
    instanceId,
    claims: [],
    events: [],
    changes: [change],
    expect: [{ kind: "rows", table: loginFlows, where: { instanceId, ...where }, count }],
  });

async function insert(
  db: Deps["db"],
  instanceId: string,
  flow: Pick<Flow, "id" | "agentId" | "data" | "createdAt">,
  expiresAt: Date,
): Promise<Flow> {
  const { id, agentId, data, createdAt } = flow;
  const row = { instanceId, id, agentId, data, createdAt, version: 1, expiresAt };
  await commit(db, instanceId, { id }, 0, insertRow(loginFlows, row)).catch(changedMeanwhile);
  return { id, agentId, data, createdAt, version: 1, address: id, isPersisted: true };
}

const endOf = (createdAt: Date) => new Date(createdAt.getTime() + lifeMs);

async function unseal(
  secrets: Deps["secrets"],
  instanceId: string,
  address: string,
): Promise<Flow | undefined> {
  if (address.length > longestAddress) return undefined;
  const clear = await secrets.openText(instanceId, "flow", address);
  if (clear === undefined) return undefined;
  const { createdAt: made, ...flow }: Sealed = JSON.parse(Buffer.from(clear).toString());
  return { ...flow, createdAt: new Date(made), version: 0, address, isPersisted: false };
}

function changedMeanwhile(error: unknown): never {
  throw error instanceof Conflict ? conflictOfFlows(error) : error;
}

async function isCommitted(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof Conflict) return false;
    throw error;
  }
}
