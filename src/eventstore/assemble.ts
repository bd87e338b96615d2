import { setImmediate as turn } from "node:timers/promises";
import type { SealingKey } from "../crypto/secrets.ts";
import type { ClaimChange, StoredEvent } from "../storage/database.ts";
import { PendingSequence, type RowChange } from "../storage/row-change.ts";
import { claimChange } from "./claims.ts";
import type { ClaimStatement, NewEvent, OwnerRef, Recorded } from "./event.ts";
import type { Loaded } from "./eventstore.ts";
import type { UnitOrigin } from "./origins.ts";
import type { Presence } from "./presence.ts";
import type { Parts, Transaction, WriteContext } from "./transaction.ts";

const eventsATurn = 64;

/** What a unit records of one object. */
export type Recording = {
  loaded: Loaded<unknown>;
  aggregateType: string;
  owner: OwnerRef;
  events: NewEvent[];
};

/** Who a browser of the hosted login turned out to be. */
export type Recognised = { personId?: string; sessionId?: string };

/** What a decision recorded, as the store takes it. */
export type Assembled = {
  stored: StoredEvent[];
  claims: ClaimChange[];
  rows: RowChange[];
  origin: UnitOrigin | undefined;
};

type Unit = {
  at: WriteContext;
  createdAt: Date;
  transaction: Transaction;
  recognised: Recognised | undefined;
  recordings: Iterable<Recording>;
  /** Told where in the unit each object's events stand; the last time counts. */
  onLast: (loaded: Loaded<unknown>, index: number, owner: OwnerRef) => void;
};

export async function assemble(
  parts: Pick<Parts, "codec" | "catalog" | "origins">,
  unit: Unit,
): Promise<Assembled> {
  const { at, createdAt } = unit;
  const stored: StoredEvent[] = [];
  const claims: ClaimChange[] = [];
  const rows: RowChange[] = [];
  const newKeys = new Map<string, SealingKey>();
  for (const { loaded, aggregateType, owner, events } of unit.recordings) {
    let version = loaded.version;
    // What an object holds, its events have taken: a new one has nothing to let go of.
    const seenKinds = new Set<string>();
    for (const event of events) {
      version += 1n;
      const index = stored.length;
      unit.onLast(loaded, index, owner);
      const rules = parts.codec.rules(event.type);
      const where = {
        instanceId: at.instanceId,
        aggregateId: loaded.id,
        createdAt,
        isNew: loaded.version === 0n,
      };
      const sealed = await parts.codec.seal(event, where, newKeys);
      rows.push(...sealed.changes);
      const { type, payload } = event;
      const { editorId, service, clientId, requestId } = at;
      const revision = rules.revision ?? 1;
      // Made for every event: to spread the fields that both have into them took as long as all else here.
      stored.push({
        aggregateType,
        aggregateId: loaded.id,
        aggregateVersion: version,
        revision,
        editorId,
        service,
        clientId,
        requestId,
        createdAt,
        type,
        payload: sealed.payload,
        ownerType: owner.type,
        ownerId: owner.id,
        originId: null,
      });
      for (const statement of rules.claims?.(event.payload) ?? []) {
        const isFirst = loaded.version === 0n && !seenKinds.has(statement.kind);
        seenKinds.add(statement.kind);
        const stated = isFirst ? asFirst(statement) : statement;
        claims.push(claimChange(stated, at.instanceId, aggregateType, loaded.id));
      }
      const recorded: Recorded = {
        type,
        payload,
        aggregateType,
        aggregateId: loaded.id,
        aggregateVersion: version,
        revision,
        editorId,
        service,
        clientId,
        requestId,
        createdAt,
        instanceId: at.instanceId,
        sequence: new PendingSequence(index),
        owner,
        isOfNew: loaded.version === 0n,
      };
      rows.push(...parts.catalog.reduce(recorded));
      // A large unit holds up nobody while it is put together.
      if (stored.length % eventsATurn === 0) await turn();
    }
  }
  const presence = presenceIn(at, unit.recognised);
  if (presence === undefined || stored.length === 0) {
    return { stored, claims, rows, origin: undefined };
  }
  const origin = await parts.origins.of(unit.transaction, at.instanceId, presence, newKeys);
  rows.push(...origin.changes);
  for (const event of stored) event.originId = origin.id;
  return { stored, claims, rows, origin };
}

/** What an object holds nothing of yet is new to it: it has nothing to let go of. */
const asFirst = (statement: ClaimStatement): ClaimStatement =>
  statement.op === "hold" ? { ...statement, op: "add" } : statement;

/** Who was there, as far as it turned out: of a browser of the hosted login, whom the service writes for. */
function presenceIn(
  { presence }: WriteContext,
  recognised: Recognised | undefined,
): Presence | undefined {
  if (presence === undefined || recognised === undefined || presence.isVisitor !== true) {
    return presence;
  }
  return { ...presence, ...recognised };
}
