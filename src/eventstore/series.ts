import { type ClaimChange, ClaimTaken, type Database } from "../storage/database.ts";
import { and, eq, inArray, or } from "../storage/drizzle.ts";
import { claims } from "../storage/kernel-tables.ts";
import { claimName, holderOf } from "./claims.ts";
import type { Transaction } from "./transaction.ts";
import { type Foreseen, Unit } from "./unit.ts";

/** Who holds claims in the store, by `claimName`. */
export type Holders = ReadonlyMap<string, string>;

/** Decisions of which each is a unit of its own over what those before it have made; what stands of them is committed as one. */
export type Series = {
  /**
   * Takes a decision. Where it throws nothing of it remains, and the series goes on without it.
   *
   * @param judge sees what the decision claims and records, and may throw to refuse it
   * @throws what the decision throws, and the refusal of a claim that is held
   */
  add<T>(
    decide: (tx: Transaction) => Promise<T>,
    judge?: (claimed: readonly ClaimChange[], recorded: () => Foreseen[]) => Promise<void>,
  ): Promise<T>;
  /** What its decisions claim, those refused for it too. */
  readonly claimed: readonly ClaimChange[];
  /**
   * Judges what stands of it by who holds claims in the store, where it will not be committed.
   * @throws the refusal of a claim that is held
   */
  judge(stored: Holders): void;
};

/**
 * Begins a series in a unit, with which it is committed.
 *
 * @param stored who holds claims in the store. Absent, decisions are judged among themselves alone: what the store and the invariants
 *   have against one of them then refuses the whole, at the commit.
 */
export function beginSeries(tx: Transaction, stored?: Holders): Series {
  if (!(tx instanceof Unit)) throw new Error("a series is begun in a unit");
  const taken = new Map<string, ClaimChange>();
  const claimed: ClaimChange[] = [];

  const isOthers = (claim: ClaimChange, holder: string | undefined): boolean =>
    holder !== undefined && holder !== holderOf(claim);

  function requireFree(wanted: readonly ClaimChange[]): void {
    const own = new Map<string, ClaimChange>();
    for (const claim of wanted) {
      const name = claimName(claim);
      const before = own.get(name) ?? taken.get(name);
      const holders = [stored?.get(name), before && holderOf(before)];
      if (holders.some((holder) => isOthers(claim, holder))) throw new ClaimTaken(claim.kind);
      own.set(name, claim);
    }
  }

  return {
    claimed,
    async add(decide, judge) {
      const member = tx.above();
      const made = await decide(member);
      const wanted = member.claims().filter(({ op }) => op !== "release");
      claimed.push(...wanted);
      try {
        requireFree(wanted);
        if (stored !== undefined) await member.judge();
        await judge?.(wanted, () => member.foreseen());
      } catch (error) {
        throw error instanceof ClaimTaken ? tx.refusalOf(error) : error;
      }
      tx.takeIn(member);
      for (const claim of wanted) taken.set(claimName(claim), claim);
      return made;
    },
    judge(holders) {
      for (const [name, claim] of taken) {
        if (isOthers(claim, holders.get(name))) throw tx.refusalOf(new ClaimTaken(claim.kind));
      }
    },
  };
}

/** Who holds these claims in the store, by one read. */
export async function holdersOf(db: Database, wanted: readonly ClaimChange[]): Promise<Holders> {
  if (wanted.length === 0) return new Map();
  const t = db.table(claims);
  const ofKinds = Array.from(
    Map.groupBy(wanted, ({ kind }) => kind),
    ([kind, some]) => {
      const scopes = [...new Set(some.map(({ scope }) => scope))];
      const values = some.map(({ value = "" }) => value);
      return and(eq(t.kind, kind), inArray(t.scope, scopes), inArray(t.value, values));
    },
  );
  const rows = await db.read
    .select()
    .from(t)
    .where(or(...ofKinds));
  return new Map(rows.map((row) => [claimName(row), holderOf(row)]));
}
