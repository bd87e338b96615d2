import { and, asc, eq, gt, parameter } from "../storage/drizzle.ts";
import type { Database } from "../storage/database.ts";
import { events } from "../storage/kernel-tables.ts";
import type { Aggregate } from "./aggregate.ts";
import type { NewEvent } from "./event.ts";
import type { EventStore, Loaded, LoggedEvent } from "./eventstore.ts";
import type { LogReader } from "./log-reader.ts";
import type { PayloadCodec } from "./payload-codec.ts";
import type { SecretStore } from "./secret-store.ts";
import { createSnapshotCache, type Fold } from "./snapshot-cache.ts";

/** Folds streams to the states of their objects; those of single objects are kept, and go on from where they were. */
export function createLoader(
  parts: { db: Database; secrets: SecretStore; codec: PayloadCodec } & Pick<
    LogReader,
    "open" | "openAll"
  >,
): Pick<EventStore, "load" | "loadAll"> {
  const { db, secrets, codec, open, openAll } = parts;
  const t = db.table(events);
  const snapshots = createSnapshotCache();

  const stream = db.read
    .select()
    .from(t)
    .where(
      and(
        eq(t.instanceId, parameter("instanceId")),
        eq(t.aggregateType, parameter("type")),
        eq(t.aggregateId, parameter("id")),
        gt(t.aggregateVersion, parameter("after")),
      ),
    )
    .orderBy(asc(t.aggregateVersion))
    .prepare("load_stream");

  async function load<S, E extends NewEvent>(
    aggregate: Aggregate<S, E>,
    instanceId: string,
    id: string,
  ): Promise<Loaded<S>> {
    const key = `${instanceId} ${aggregate.type} ${id}`;
    // Taken before the keys are read: one that is destroyed meanwhile makes the fold stale, never wrong.
    const currentKeys = secrets.personalKeysVersion(instanceId);
    const known = snapshots.find(key, currentKeys);
    // Taken before the events are read: one that comes meanwhile makes the fold stale, never wrong.
    const streamVersion = db.streamVersion(id);
    if (known?.streamVersion === streamVersion) return loadedOf(id, known);
    // One aggregate type has one state type.
    let state = known === undefined ? aggregate.initial : (known.state as S);
    let last = known?.last;
    let keysVersion = known?.keysVersion;
    const after = last?.aggregateVersion ?? 0n;
    for (const row of await stream.execute({ instanceId, type: aggregate.type, id, after })) {
      last = await open(row);
      if (codec.isPersonal(row.type)) keysVersion = currentKeys;
      // The stream holds only events of its aggregate; evolve is total over them (aggregate.ts).
      state = aggregate.evolve(state, last as unknown as E);
    }
    if (last === undefined) return { id, state, version: 0n, last };
    const fold = { state, last, keysVersion, streamVersion };
    snapshots.store(key, fold);
    return loadedOf(id, fold);
  }

  /** What is loaded is the caller's to bring further; the fold stays. */
  const loadedOf = <S>(id: string, { state, last }: Fold): Loaded<S> => ({
    id,
    // One aggregate type has one state type.
    state: state as S,
    version: last.aggregateVersion,
    last,
  });

  async function loadAll<S, E extends NewEvent>(
    aggregate: Aggregate<S, E>,
    instanceId: string,
    ids: readonly string[],
  ): Promise<Loaded<S>[]> {
    const ofType = and(eq(t.instanceId, instanceId), eq(t.aggregateType, aggregate.type));
    const rows = await db.read
      .select()
      .from(t)
      .where(and(ofType, db.isAmong(t.aggregateId, ids)));
    const streams = new Map<string, LoggedEvent[]>(ids.map((id) => [id, []]));
    for (const event of await openAll(rows)) streams.get(event.aggregateId)?.push(event);
    return [...streams].map(([id, own]) => {
      own.sort((a, b) => Number(a.aggregateVersion - b.aggregateVersion));
      const last = own.at(-1);
      const state = own.reduce(
        (before, event) => aggregate.evolve(before, event as unknown as E),
        aggregate.initial,
      );
      return { id, state, version: last?.aggregateVersion ?? 0n, last };
    });
  }

  return { load, loadAll };
}
