import type { Refused } from "../../../authz/ports.ts";
import { sourceOf } from "../../../authz/source.ts";

/** Refusals that are counted together: those of one minute that are alike. */
export type Counted = {
  refused: Refused;
  count: number;
  firstAt: Date;
  lastAt: Date;
  /** The row that it has, once it was written. */
  id: string | undefined;
};

export type Tally = {
  add(refused: Refused, at: Date): void;
  /** What was counted since it was last asked. */
  due(): Counted[];
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * Counts refusals by what is alike in them: who, why, and from which source. Of one instance it tells a number of them apart
 * in an hour; what is beyond is counted by kind and reason alone, so that a flood from many sources cannot grow the store.
 */
export function createTally(mostAnHour: number): Tally {
  const counted = new Map<string, Counted>();
  const inHour = new Map<string, number>();
  let due = new Set<Counted>();
  let minute = 0;
  let hour = 0;

  function turn(at: number): void {
    if (Math.floor(at / minuteMs) !== minute) {
      minute = Math.floor(at / minuteMs);
      counted.clear();
    }
    if (Math.floor(at / hourMs) !== hour) {
      hour = Math.floor(at / hourMs);
      inHour.clear();
    }
  }

  /** Whether one more may be told apart. */
  function isFew({ instanceId }: Refused): boolean {
    const before = inHour.get(instanceId) ?? 0;
    if (before >= mostAnHour) return false;
    inHour.set(instanceId, before + 1);
    return true;
  }

  function countedAs(name: string, refused: Refused, at: Date): Counted {
    let found = counted.get(name);
    if (found === undefined) {
      found = { refused, count: 0, firstAt: at, lastAt: at, id: undefined };
      counted.set(name, found);
    }
    return found;
  }

  function find(refused: Refused, at: Date): Counted {
    const name = nameOf(refused);
    if (counted.has(name) || isFew(refused)) return countedAs(name, refused, at);
    const { instanceId, kind, reason } = refused;
    const bare = { instanceId, kind, reason, operation: "", presence: undefined };
    return countedAs(`${instanceId}\n${kind}\n${reason}`, bare, at);
  }

  return {
    add(refused, at) {
      turn(at.getTime());
      const found = find(refused, at);
      found.count += 1;
      found.lastAt = at;
      due.add(found);
    },
    due() {
      const all = [...due];
      due = new Set();
      return all;
    },
  };
}

const nameOf = ({ instanceId, kind, reason, operation, presence, ...who }: Refused): string => {
  const { userId = "", clientId = "", idpId = "" } = who;
  const { personId = "", sessionId = "", familyId = "", address = "" } = presence ?? {};
  return [
    instanceId,
    kind,
    reason,
    operation,
    userId,
    clientId,
    idpId,
    personId,
    sessionId,
    familyId,
    address === "" ? "" : sourceOf(address),
  ].join("\n");
};
