import { gunzipSync, gzipSync } from "node:zlib";
import type { SecretRef } from "../../eventstore/secret-store.ts";

/** One record as it was received: its position among all, its organization, and its JSON. */
export type Received = { at: number; orgId: string; json: Uint8Array };

/** So many records are read at once at most, and written by as many units as it takes that nobody waits long. */
export const recordsABatch = 250;

/** Where a batch that waits is kept: it may hold hashes of passwords. */
export const payloadRef = (instanceId: string, importId: string, id: string): SecretRef => ({
  ...payloadOwner(instanceId, importId),
  kind: "import_batch",
  id,
});

/** Whoever removes all that the owner has removes all that waits. */
export const payloadOwner = (instanceId: string, importId: string) => ({
  instanceId,
  ownerType: "import",
  ownerId: importId,
});

export const payloadId = ({ rank, number }: { rank: number; number: number }): string =>
  `${rank}/${number}`;

/** A line that says what follows, then the bytes of all records. */
export function packRecords(records: readonly Received[]): Uint8Array {
  const head = records.map(({ at, orgId, json }) => [at, orgId, json.length]);
  const parts = [Buffer.from(`${JSON.stringify(head)}\n`), ...records.map(({ json }) => json)];
  return gzipSync(Buffer.concat(parts), { level: 1 });
}

export function unpackRecords(packed: Uint8Array): Received[] {
  const bytes = gunzipSync(packed);
  const end = bytes.indexOf("\n");
  const head = JSON.parse(bytes.toString("utf8", 0, end)) as [number, string, number][];
  let from = end + 1;
  return head.map(([at, orgId, length]) => {
    const json = bytes.subarray(from, from + length);
    from += length;
    return { at, orgId, json };
  });
}
