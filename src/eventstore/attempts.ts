import { type ClaimChange, ClaimTaken, type Database } from "../storage/database.ts";
import { and, eq, or } from "../storage/drizzle.ts";
import { claims } from "../storage/kernel-tables.ts";
import type { ClaimStatement, NewEvent } from "./event.ts";
import type { PayloadCodec } from "./payload-codec.ts";

type Part = { undo: (() => void)[]; claims: ClaimChange[] };
type Judge = (claims: readonly ClaimChange[]) => Promise<void>;

/** The parts of one unit that may be refused alone; one at a time. */
export function createAttempts(
  { db, codec }: { db: Database; codec: PayloadCodec },
  instanceId: string,
) {
  const t = db.table(claims);
  // Who holds what parts before this one took.
  const taken = new Map<string, string>();
  let underWay: Part | undefined;

  async function requireFree(wanted: readonly ClaimChange[]): Promise<void> {
    const places = wanted.flatMap(({ op, scope, kind, value = "" }) =>
      op === "release" ? [] : [and(eq(t.scope, scope), eq(t.kind, kind), eq(t.value, value))],
    );
    if (places.length === 0) return;
    const held = new Map(taken);
    const rows = await db.read
      .select()
      .from(t)
      .where(or(...places));
    for (const row of rows) held.set(nameOf(row), holderOf(row));
    for (const claim of wanted) {
      if (claim.op === "release") continue;
      const holder = held.get(nameOf(claim));
      if (holder !== undefined && holder !== holderOf(claim)) throw new ClaimTaken(claim.kind);
      held.set(nameOf(claim), holderOf(claim));
    }
  }

  return {
    /** What is recorded while a part is under way, and how it is made undone. */
    note(aggregateType: string, id: string, happened: readonly NewEvent[], undo: () => void): void {
      if (underWay === undefined) return;
      underWay.undo.push(undo);
      for (const { type, payload } of happened) {
        for (const statement of codec.rules(type).claims?.(payload) ?? []) {
          underWay.claims.push(claimChange(statement, instanceId, aggregateType, id));
        }
      }
    },

    async make<T>(part: () => Promise<T>, judge?: Judge): Promise<T> {
      if (underWay !== undefined) throw new Error("a part of a decision has no parts of its own");
      const mine: Part = (underWay = { undo: [], claims: [] });
      try {
        const result = await part();
        await requireFree(mine.claims);
        await judge?.(mine.claims);
        for (const claim of mine.claims) {
          if (claim.op !== "release") taken.set(nameOf(claim), holderOf(claim));
        }
        return result;
      } catch (error) {
        for (const undo of mine.undo.toReversed()) undo();
        throw error;
      } finally {
        underWay = undefined;
      }
    },
  };
}

type Held = Pick<ClaimChange, "scope" | "kind" | "value">;
const nameOf = ({ scope, kind, value }: Held): string => JSON.stringify([scope, kind, value]);
const holderOf = ({ holderType, holderId }: Pick<ClaimChange, "holderType" | "holderId">) =>
  `${holderType}/${holderId}`;

/** A claim of an event, as the store takes it. */
export function claimChange(
  { systemWide, ...statement }: ClaimStatement,
  instanceId: string,
  holderType: string,
  holderId: string,
): ClaimChange {
  return { ...statement, scope: systemWide ? "" : instanceId, holderType, holderId };
}
