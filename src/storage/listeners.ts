import type { Unit } from "./database.ts";
import type { Table } from "./table.ts";

type Heard = (instanceId: string) => void;
type Inserted = (row: Readonly<Record<string, unknown>>) => void;

/** Who in this process wants to hear of commits. */
export function createListeners() {
  const ofEvents = new Set<Heard>();
  const ofRows = new Map<string, Set<Inserted>>();
  const tell = (instanceId: string) => {
    for (const listen of ofEvents) listen(instanceId);
  };
  return {
    /** Tells of events of an instance that another process committed. */
    tell,
    /** Tells of a unit that this process committed; `firstSequence` is zero when it had no events. */
    committed(unit: Unit, firstSequence: bigint): void {
      if (firstSequence !== 0n) tell(unit.instanceId);
      if (ofRows.size === 0) return;
      for (const change of unit.changes) {
        if (change.op !== "insert") continue;
        for (const listen of ofRows.get(change.table.name) ?? []) listen(change.values);
      }
    },
    onCommit(listener: Heard): () => void {
      ofEvents.add(listener);
      return () => ofEvents.delete(listener);
    },
    onInsert({ name }: Table, listener: Inserted): () => void {
      const heard = ofRows.get(name) ?? new Set();
      ofRows.set(name, heard.add(listener));
      return () => heard.delete(listener);
    },
  };
}
