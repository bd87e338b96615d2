import { open, type SealingKey, seal } from "../crypto/secrets.ts";
import type { Database } from "../storage/database.ts";
import { and, type Column, eq, sql } from "../storage/drizzle.ts";
import { optionalBytes, type Table, text } from "../storage/table.ts";
import type { RowChange } from "../storage/row-change.ts";
import type { Subject } from "./event.ts";
import type { Presence, Seen } from "./presence.ts";
import type { SecretStore } from "./secret-store.ts";
import type { Transaction } from "./transaction.ts";

/** Addresses of nobody who is known are sealed with a key of the instance, another one for each of these spans. */
export const spanMs = 90 * 24 * 60 * 60_000;

const spanKeyType = "origin";
const userType = "user";

/** The columns of a row that holds what was seen of somebody. */
export const seenColumns = { keyType: text(), keyId: text(), sealed: optionalBytes() };

type Row = {
  instanceId: string;
  id: string;
  keyType: string;
  keyId: string;
  sealed: Uint8Array | null;
};
type Sealed = Pick<Row, "keyType" | "keyId" | "sealed">;
type Unit = Pick<Transaction, "now" | "expectRows">;

/** The row that has a key of an instance destroyed later. */
export type ForgetLater = (
  at: { instanceId: string; now: Date; dueAt: Date },
  key: Subject,
) => RowChange;

/** Address and browser at rest (L4). */
export type SeenStore = {
  /**
   * Seals what was seen of somebody for one row: with the key of the person who was there, so that erasure erases it, or
   * else with the key of the instance for the span. Nothing is kept of whoever was erased meanwhile.
   */
  seal(
    tx: Unit,
    at: { instanceId: string; id: string },
    presence: Presence,
    newKeys: Map<string, SealingKey>,
  ): Promise<{ sealed: Sealed; changes: RowChange[] }>;
  /** Undefined once the key is gone. */
  open(row: Row, now: Date): Promise<Seen | undefined>;
};

/**
 * @param parts.people users: of those who are gone nothing is kept
 * @param parts.forgetLater has the key of a span destroyed when the next span has ended too
 */
export function createSeenStore({
  db,
  secrets,
  people,
  forgetLater,
}: {
  db: Database;
  secrets: SecretStore;
  people?: People | undefined;
  forgetLater?: ForgetLater | undefined;
}): SeenStore {
  const nothing: Sealed = { keyType: "", keyId: "", sealed: null };

  async function keyOf(instanceId: string, subject: Subject, newKeys: Map<string, SealingKey>) {
    return (
      newKeys.get(`${subject.type}/${subject.id}`) ??
      (await secrets.personalKey(instanceId, subject))
    );
  }

  async function keyOfSpan(tx: Unit, instanceId: string, newKeys: Map<string, SealingKey>) {
    const span = spanOf(tx.now);
    const subject = { type: spanKeyType, id: String(span) };
    const known = await keyOf(instanceId, subject, newKeys);
    if (known !== undefined) return { subject, key: known, changes: [] };
    const { key, change } = await secrets.createPersonalKey(instanceId, subject, tx.now);
    newKeys.set(`${subject.type}/${subject.id}`, key);
    const dueAt = new Date((span + 2) * spanMs);
    const later = forgetLater?.({ instanceId, now: tx.now, dueAt }, subject);
    return { subject, key, changes: later === undefined ? [change] : [change, later] };
  }

  return {
    async seal(tx, { instanceId, id }, presence, newKeys) {
      const { personId } = presence;
      // The log of the system has keys from when it first needs one: they can be used once they are committed.
      const missing = await secrets.missingKeys(tx, instanceId);
      if (missing.length > 0) return { sealed: nothing, changes: missing };
      const person = isUser(personId) ? { type: userType, id: personId } : undefined;
      const own = person && (await keyOf(instanceId, person, newKeys));
      // Machine users have no key.
      if (person !== undefined && own === undefined && people !== undefined) {
        if (!(await isThere(db, people, instanceId, person.id))) {
          return { sealed: nothing, changes: [] };
        }
        tx.expectRows<Table>(people, { instanceId, id: person.id }, 1);
      }
      const { subject, key, changes } =
        person === undefined || own === undefined
          ? await keyOfSpan(tx, instanceId, newKeys)
          : { subject: person, key: own, changes: [] };
      const content = seal(key, encryptionContextOf(instanceId, subject, id), contentOf(presence));
      return { sealed: { keyType: subject.type, keyId: subject.id, sealed: content }, changes };
    },

    async open({ instanceId, id, keyType, keyId, sealed }, now) {
      if (sealed === null) return undefined;
      // What is due to be destroyed is not looked at, however late that comes.
      if (keyType === spanKeyType && Number(keyId) < spanOf(now) - 1) return undefined;
      const subject = { type: keyType, id: keyId };
      const key = await secrets.personalKey(instanceId, subject);
      if (key === undefined) return undefined;
      const content = open(key, encryptionContextOf(instanceId, subject, id), sealed);
      const [address, browser, system] = JSON.parse(Buffer.from(content).toString("utf8"));
      return { address, browser, system };
    },
  };
}

const isUser = (personId: string | undefined): personId is string =>
  personId !== undefined && !personId.startsWith("system:");

/** Which span a time is in, counted from the epoch. */
export const spanOf = (at: Date): number => Math.floor(at.getTime() / spanMs);

const encryptionContextOf = (instance: string, { type, id }: Subject, rowId: string) => ({
  instance,
  ownerType: type,
  ownerId: id,
  kind: `origin:${rowId}`,
});

const contentOf = ({ address, browser, system }: Presence): Uint8Array =>
  Buffer.from(JSON.stringify([address, browser, system]));

/** A table with a row for each user, by `instanceId` and `id`. */
export type People = Table;

async function isThere(
  db: Database,
  people: People,
  instanceId: string,
  personId: string,
): Promise<boolean> {
  const t = db.table(people) as unknown as Record<"instanceId" | "id", Column>;
  const rows = await db.read
    .select({ id: sql<string>`${t.id}` })
    .from(db.table(people))
    .where(and(eq(t.instanceId, instanceId), eq(t.id, personId)));
  return rows.length > 0;
}
