import { hash } from "node:crypto";
import { type Awaitable, whenKnown } from "../awaitable.ts";
import type { Subject } from "./event.ts";
import { digestSecret, timeIn } from "../crypto/digests.ts";
import {
  newSealingKey,
  open,
  type SealingKey,
  seal,
  unwrapKey,
  wrapKey,
} from "../crypto/secrets.ts";
import { createTextSealer } from "../crypto/sealed-text.ts";
import { newerFormatOf } from "../crypto/token-format.ts";
import { internal } from "../errors.ts";
import type { Database } from "../storage/database.ts";
import { and, eq, parameter } from "../storage/drizzle.ts";
import { secrets } from "../storage/kernel-tables.ts";
import { cachedRead } from "../storage/read-cache.ts";
import { deleteRows, insertRow, putRow, type RowChange } from "../storage/row-change.ts";
import type { Row } from "../storage/table.ts";
import type { Transaction } from "./transaction.ts";
import {
  type InstanceKeyKind,
  instanceKeyId,
  instanceKeyKinds,
  type MasterKeys,
  unwrapInstanceKey,
} from "./master-keys.ts";

/** Where one secret lives: the key of the `secrets` table (C7). */
export type SecretRef = {
  instanceId: string;
  ownerType: string;
  ownerId: string;
  kind: string;
  id: string;
};

/** Names the secret of a kind of which each owner of a type has one. */
export const onlySecretOf =
  (ownerType: string, kind: string) =>
  (instanceId: string, ownerId: string): SecretRef => ({
    instanceId,
    ownerType,
    ownerId,
    kind,
    id: "1",
  });

/** Reads such a secret, which is sealed; undefined where the owner has none, or is gone. Cached: a hit is no promise. */
export const onlySecretReader =
  (refOf: ReturnType<typeof onlySecretOf>) => (db: Database, store: Pick<SecretStore, "open">) =>
    cachedRead(db, [{ table: secrets, part: refOf("", "").kind }], (instanceId, ownerId) =>
      store.open(refOf(instanceId, ownerId)),
    );

export type FoundSecret = {
  ownerType: string;
  ownerId: string;
  id: string;
  expiresAt: Date | null;
};

/**
 * Secrets at rest (C7). The master key wraps the keys of an instance, those seal everything else;
 * each user has a key of their own for the personal fields of their events. Writes are row changes that go with the unit
 * which announces them.
 */
export interface SecretStore {
  /** Makes the keys of a new instance: they belong into the unit that creates it. */
  createInstanceKeys(instanceId: string, createdAt: Date): RowChange[];
  /**
   * Makes the keys of a log that may have none yet; nothing where it has. They can be used once they are committed. The
   * unit fails to commit where another one has made them meanwhile, and is then decided anew.
   */
  missingKeys(
    tx: Pick<Transaction, "now" | "expectRows">,
    instanceId: string,
  ): Promise<RowChange[]>;
  /** Makes the personal key of a new user, or of what else tells of a person. */
  createPersonalKey(
    instanceId: string,
    of: Subject,
    createdAt: Date,
  ): Promise<{ key: SealingKey; change: RowChange }>;
  /** A personal key; undefined once it was destroyed. */
  personalKey(instanceId: string, of: Subject): Promise<SealingKey | undefined>;
  /** Another number whenever a personal key of the instance was made or destroyed. What it opened counts until then. */
  personalKeysVersion(instanceId: string): number;
  /** The key that is mixed into password hashes of the instance. */
  pepper(instanceId: string): Promise<SealingKey>;
  /** Stores a secret that must be read again (a signing key, a password hash). */
  put(ref: SecretRef, value: Uint8Array, createdAt: Date): Promise<RowChange>;
  open(ref: SecretRef): Promise<Uint8Array | undefined>;
  /** Stores only the keyed digest of a random secret, which can then be found by the secret. */
  putDigest(ref: SecretRef, secret: string, createdAt: Date, expiresAt?: Date): Promise<RowChange>;
  find(instanceId: string, kind: string, secret: string): Awaitable<FoundSecret | undefined>;
  /**
   * The keyed digest of a short-lived secret that is kept elsewhere, for example of a code in a table of its own; those of
   * dated secrets are in the order in which they were made.
   */
  digest(instanceId: string, secret: string): Awaitable<string>;
  /** Seals what goes out for one purpose and comes back; the result is fit for addresses, and nothing of it is kept. */
  sealText(instanceId: string, purpose: string, clear: Uint8Array): Promise<string>;
  /** What was sealed for this purpose in this instance; undefined for every other text. */
  openText(instanceId: string, purpose: string, sealed: string): Promise<Uint8Array | undefined>;
  remove(ref: SecretRef): RowChange;
  /** Everything that one owner has, their personal key included: what it has sealed can never be read again. */
  removeAllOf(owner: Pick<SecretRef, "instanceId" | "ownerType" | "ownerId">): RowChange;
  /** Everything of an instance, its keys included. */
  removeInstance(instanceId: string): RowChange;
}

const personalKeyKind = "personal_key";

function statementsOf(db: Database) {
  const t = db.table(secrets);
  const one = db.read
    .select()
    .from(t)
    .where(
      and(
        eq(t.instanceId, parameter("instanceId")),
        eq(t.ownerType, parameter("ownerType")),
        eq(t.ownerId, parameter("ownerId")),
        eq(t.kind, parameter("kind")),
        eq(t.id, parameter("id")),
      ),
    )
    .prepare("read_secret");
  const byDigest = db.read
    .select()
    .from(t)
    .where(
      and(
        eq(t.instanceId, parameter("instanceId")),
        eq(t.kind, parameter("kind")),
        eq(t.digest, parameter("digest")),
      ),
    )
    .prepare("find_secret");
  return { one, byDigest };
}

export function createSecretStore(db: Database, masters: MasterKeys): SecretStore {
  const { one, byDigest } = statementsOf(db);
  const read = async (ref: SecretRef): Promise<Row<typeof secrets> | undefined> =>
    (await one.execute(ref))[0];
  const instanceKeys = createInstanceKeys(read, masters);
  const instanceKey = instanceKeys.get;

  const ofPersonalKeys = [{ table: secrets, part: personalKeyKind }];
  const personalKeys = cachedRead(db, ofPersonalKeys, async (instanceId, _, of: Subject) => {
    const ref = personalKeyRef(instanceId, of);
    const row = await read(ref);
    if (!row?.sealed) return undefined;
    return unwrapKey(await instanceKey(instanceId, "data_key"), ownerOf(ref), ref.kind, row.sealed);
  });
  // Found secrets are remembered by a plain hash, which is much quicker than the keyed one that the table holds and
  // never leaves the memory of the process.
  const finders = new Map<string, ReturnType<typeof finderOf>>();
  const finderOf = (kind: string) =>
    cachedRead(db, [{ table: secrets, part: kind }], async (instanceId, _, secret: string) => {
      // What it stands for is more than this build knows.
      if (newerFormatOf(secret) !== undefined) return undefined;
      const digest = await digestOf(instanceId, secret);
      return (await byDigest.execute({ instanceId, kind, digest }))[0];
    });

  const digestOf = (instanceId: string, secret: string): Awaitable<string> =>
    whenKnown(instanceKey(instanceId, "digest_key"), ({ key }) => digestSecret(key, secret));

  return {
    createInstanceKeys: (instanceId, createdAt) =>
      instanceKeys.make(instanceId, createdAt).map(({ key, kind, change }) => {
        instanceKeys.keep(instanceId, kind, key);
        return change;
      }),

    async missingKeys(tx, instanceId) {
      if (instanceKeys.has(instanceId, "data_key")) return [];
      if ((await read(refOf(instanceId, "data_key"))) !== undefined) return [];
      tx.expectRows(secrets, { instanceId, ownerType: "instance" }, 0);
      return instanceKeys.make(instanceId, tx.now).map(({ change }) => change);
    },

    async createPersonalKey(instanceId, of, createdAt) {
      const ref = personalKeyRef(instanceId, of);
      const key = newSealingKey(ref.kind);
      const wrapping = await instanceKey(instanceId, "data_key");
      const sealed = wrapKey(wrapping, ownerOf(ref), key);
      return { key, change: insertRow(secrets, { ...ref, sealed, keyId: wrapping.id, createdAt }) };
    },

    personalKeysVersion: (instanceId) => db.cacheVersion(instanceId, ofPersonalKeys),
    personalKey: async (instanceId, of) => personalKeys(instanceId, `${of.type}/${of.id}`, of),
    pepper: async (instanceId) => instanceKey(instanceId, "pepper_key"),

    async put(ref, value, createdAt) {
      const key = await instanceKey(ref.instanceId, "data_key");
      const sealed = seal(key, contextOf(ref), value);
      return putRow(secrets, { ...ref, sealed, keyId: key.id, createdAt });
    },

    async open(ref) {
      const row = await read(ref);
      if (!row?.sealed) return undefined;
      return open(await instanceKey(ref.instanceId, "data_key"), contextOf(ref), row.sealed);
    },

    async putDigest(ref, secret, createdAt, expiresAt) {
      const digest = await digestOf(ref.instanceId, secret);
      const row = { ...ref, digest, keyId: `digest_key:${instanceKeyId}`, createdAt };
      return putRow(secrets, expiresAt === undefined ? row : { ...row, expiresAt });
    },

    find(instanceId, kind, secret) {
      let find = finders.get(kind);
      if (find === undefined) finders.set(kind, (find = finderOf(kind)));
      return find(instanceId, hash("sha256", secret, "base64url"), secret);
    },

    digest: (instanceId, secret) =>
      whenKnown(digestOf(instanceId, secret), (digest) => timeIn(secret) + digest),
    ...sealedTexts((instanceId) => instanceKey(instanceId, "data_key")),

    removeInstance(instanceId) {
      instanceKeys.forget(instanceId);
      return deleteRows(secrets, { instanceId });
    },
    remove: (ref) => deleteRows(secrets, ref),
    removeAllOf: ({ instanceId, ownerType, ownerId }) =>
      deleteRows(secrets, { instanceId, ownerType, ownerId }),
  };
}

function sealedTexts(
  dataKeyOf: (instanceId: string) => Awaitable<SealingKey>,
): Pick<SecretStore, "sealText" | "openText"> {
  const texts = createTextSealer();
  return {
    sealText: async (instanceId, purpose, clear) =>
      texts.seal(await dataKeyOf(instanceId), textContext(instanceId, purpose), clear),
    openText: async (instanceId, purpose, sealed) =>
      texts.open(await dataKeyOf(instanceId), textContext(instanceId, purpose), sealed),
  };
}

/** The keys of instances, which are kept once they have been read. */
function createInstanceKeys(
  read: (ref: SecretRef) => Promise<Row<typeof secrets> | undefined>,
  masters: MasterKeys,
) {
  const known = new Map<InstanceKeyKind, Map<string, SealingKey>>(
    instanceKeyKinds.map((kind) => [kind, new Map()]),
  );
  const find = (instanceId: string, kind: InstanceKeyKind) => known.get(kind)?.get(instanceId);
  const keep = (instanceId: string, kind: InstanceKeyKind, key: SealingKey) =>
    void known.get(kind)?.set(instanceId, key);

  async function readKey(instanceId: string, kind: InstanceKeyKind): Promise<SealingKey> {
    const ref = refOf(instanceId, kind);
    const row = await read(ref);
    if (!row?.sealed)
      throw internal("INSTANCE_KEY_MISSING", `instance ${instanceId} has no ${kind}`);
    const key = unwrapInstanceKey(masters, { ...ref, sealed: row.sealed });
    keep(instanceId, kind, key);
    return key;
  }

  return {
    get: (instanceId: string, kind: InstanceKeyKind): Awaitable<SealingKey> =>
      find(instanceId, kind) ?? readKey(instanceId, kind),
    has: (instanceId: string, kind: InstanceKeyKind) => find(instanceId, kind) !== undefined,
    /** New keys of all kinds, and the rows that store them. They are not kept: the unit may fail. */
    make: (instanceId: string, createdAt: Date) =>
      instanceKeyKinds.map((kind) => {
        const ref = refOf(instanceId, kind);
        const key = newSealingKey(`${kind}:${ref.id}`);
        const sealed = wrapKey(masters.current, ownerOf(ref), key);
        const keyId = masters.current.id;
        return { kind, key, change: insertRow(secrets, { ...ref, sealed, keyId, createdAt }) };
      }),
    keep,
    forget(instanceId: string): void {
      for (const keys of known.values()) keys.delete(instanceId);
    },
  };
}

const refOf = (instanceId: string, kind: InstanceKeyKind): SecretRef => ({
  instanceId,
  ownerType: "instance",
  ownerId: instanceId,
  kind,
  id: instanceKeyId,
});
const ownerOf = (ref: SecretRef) => ({
  instance: ref.instanceId,
  ownerType: ref.ownerType,
  ownerId: ref.ownerId,
});
const contextOf = (ref: SecretRef) => ({ ...ownerOf(ref), kind: `${ref.kind}:${ref.id}` });

const textContext = (instanceId: string, purpose: string) => ({
  instance: instanceId,
  ownerType: "instance",
  ownerId: instanceId,
  kind: `text:${purpose}`,
});

const personalKeyRef = (instanceId: string, { type, id }: Subject): SecretRef => ({
  instanceId,
  ownerType: type,
  ownerId: id,
  kind: personalKeyKind,
  id: instanceKeyId,
});
