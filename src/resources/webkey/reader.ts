import { rowsWhere } from "../../projection/rows.ts";
import type { KeyObject } from "node:crypto";
import {
  algorithmOf,
  type PublicJwk,
  readSigningKey,
  type SigningAlgorithm,
} from "../../crypto/signing-key.ts";
import { internal } from "../../errors.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead, current } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { privateKeyRef } from "./keys.ts";
import { type WebKeyState, webKeyStates, webKeys } from "./web-key.ts";

export type WebKeyRow = Row<typeof webKeys.table> & { alg: SigningAlgorithm; state: WebKeyState };

/** A member of a JSON Web Key Set (RFC 7517). It has no private member. */
export type PublishedKey = PublicJwk & { kid: string; use: "sig"; alg: SigningAlgorithm };

/** What signs a token: `kid` and `alg` are the header. */
export type Signer = { kid: string; alg: SigningAlgorithm; key: KeyObject };

export type WebKeyReader = {
  /**
   * The public keys of an instance, newest first: also those that do not sign yet and those that do not any more. It is
   * never older than what any replica has acknowledged, so that no key signs that is not in it. Cached.
   */
  publicKeys(instanceId: string): Promise<PublishedKey[]>;
  /**
   * The active key. Cached: never older than the last change of this process, and than a second where another replica
   * wrote (B7). With an algorithm, the key of that algorithm which an app asks for: the active one if it fits,
   * else the one that was active last, else the newest; undefined if there is none.
   * @throws INTERNAL WEB_KEY_MISSING when the instance has no active key
   */
  signer(instanceId: string): Promise<Signer>;
  signer(instanceId: string, algorithm: SigningAlgorithm): Promise<Signer | undefined>;
};

/** What the OpenID Provider needs of the keys of instances. */
export function webKeyReader({ db, secrets }: Pick<Deps, "db" | "secrets">): WebKeyReader {
  const keys = cachedRead(db, [webKeys.table], (instanceId) => keysOf(db, instanceId));
  const published = cachedRead(db, [webKeys.table], async (instanceId) =>
    (await keysOf(db, instanceId)).map(toPublished),
  );
  const currentlyPublished = current(db, published);
  // A key never changes: once read it can be used for as long as the rows name it.
  const opened = cachedRead(db, [webKeys.table], async (instanceId, id) => {
    const der = await secrets.open(privateKeyRef(instanceId, id));
    return der && readSigningKey(der);
  });

  async function signer(instanceId: string): Promise<Signer>;
  async function signer(instanceId: string, alg: SigningAlgorithm): Promise<Signer | undefined>;
  async function signer(instanceId: string, alg?: SigningAlgorithm): Promise<Signer | undefined> {
    const row = chosen(await keys(instanceId, ""), alg);
    const key = row && (await opened(instanceId, row.id));
    if (row !== undefined && key !== undefined) return { kid: row.id, alg: row.alg, key };
    if (alg !== undefined) return undefined;
    throw webKeyMissing(`instance ${instanceId} has no active web key`);
  }

  return { signer, publicKeys: (instanceId) => currentlyPublished(instanceId, "") };
}

/** The keys of these instances, newest first. */
export async function keysOf(db: Database, ...instanceIds: string[]): Promise<WebKeyRow[]> {
  const order = ["-creationDate", "-id"] as const;
  const rows = await rowsWhere(db, webKeys.table, { instanceId: instanceIds }, order);
  return rows.flatMap((row) => {
    const state = webKeyStates.find((each) => each === row.state);
    return state === undefined ? [] : [{ ...row, state, alg: algorithmOf(row.config) }];
  });
}

/** Which key signs, of all of an instance; also what is kept for the apps that ask for an algorithm. */
export function chosen(keys: readonly WebKeyRow[], alg?: SigningAlgorithm): WebKeyRow | undefined {
  const active = keys.find(({ state }) => state === "active");
  if (alg === undefined || active?.alg === alg) return active;
  const fitting = keys.filter((key) => key.alg === alg);
  const [last] = fitting
    .filter(({ state }) => state === "inactive")
    .toSorted((a, b) => b.changeDate.getTime() - a.changeDate.getTime());
  return last ?? fitting[0];
}

const toPublished = ({ id, alg, publicKey }: WebKeyRow): PublishedKey => ({
  ...publicKey,
  kid: id,
  use: "sig",
  alg,
});

/** @param text of the log: callers are told that something broke */
export const webKeyMissing = (text: string) => internal("WEB_KEY_MISSING", text);
