import { type ClaimChange, ClaimTaken, type Database } from "../storage/database.ts";
import { and, eq, inArray, or } from "../storage/drizzle.ts";
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
  const taken = new Map<string, { holder: string; claim: ClaimChange }>();
  let underWay: Part | undefined;

  /** Who holds what is wanted, in the store. */
  async function heldInStore(wanted: readonly ClaimChange[]): Promise<Map<string, string>> {
    const values = new Map<string, { scope: string; kind: string; values: string[] }>();
    for (const { op, scope, kind, value = "" } of wanted) {
      if (op === "release") continue;
      const name = JSON.stringify([scope, kind]);
      const known = values.get(name);
      if (known === undefined) values.set(name, { scope, kind, values: [value] });
      else known.values.push(value);
    }
    if (values.size === 0) return new Map();
    const wantedClaims = [...values.values()].map((of) =>
      and(eq(t.scope, of.scope), eq(t.kind, of.kind), inArray(t.value, of.values)),
    );
    const rows = await db.read
      .select()
      .from(t)
      .where(or(...wantedClaims));
    return new Map(rows.map((row) => [nameOf(row), holderOf(row)]));
  }

  function requireFree(wanted: readonly ClaimChange[], holders: Map<string, string>): void {
    for (const claim of wanted) {
      if (claim.op === "release") continue;
      const name = nameOf(claim);
      const holder = holders.get(name) ?? taken.get(name)?.holder;
      if (holder !== undefined && holder !== holderOf(claim)) throw new ClaimTaken(claim.kind);
      holders.set(name, holderOf(claim));
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

    /** @param isHasty the store is not asked who holds what the part claims */
    async make<T>(part: () => Promise<T>, judge?: Judge, isHasty = false): Promise<T> {
      if (underWay !== undefined) throw new Error("a part of a decision has no parts of its own");
      const mine: Part = (underWay = { undo: [], claims: [] });
      try {
        const result = await part();
        requireFree(mine.claims, isHasty ? new Map() : await heldInStore(mine.claims));
        await judge?.(mine.claims);
        for (const claim of mine.claims) {
          if (claim.op === "release") continue;
          taken.set(nameOf(claim), { holder: holderOf(claim), claim });
        }
        return result;
      } catch (error) {
        for (const undo of mine.undo.toReversed()) undo();
        throw error;
      } finally {
        underWay = undefined;
      }
    },

    /** Judges all that the parts have taken, by one read. */
    async requireAllFree(): Promise<void> {
      const wanted = [...taken.values()].map(({ claim }) => claim);
      requireFree(wanted, await heldInStore(wanted));
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
