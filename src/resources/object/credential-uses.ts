import { rowsWhere } from "../../projection/rows.ts";
import type { CredentialUse } from "../../authz/ports.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { deferredWrite } from "../../storage/deferred-write.ts";
import { putRow } from "../../storage/row-change.ts";
import { instant, table, text } from "../../storage/table.ts";

/** When keys, secrets and tokens were used last, to the hour; who has which is known elsewhere. */
export const credentialUses = table(
  "credential_uses",
  {
    instanceId: text(),
    ownerId: text(),
    kind: text(),
    id: text(),
    usedAt: instant(),
    expiresAt: instant(),
  },
  { key: ["instanceId", "ownerId", "kind", "id"], indexes: [{ columns: ["expiresAt"] }] },
);

const hourMs = 3_600_000;
// Of what is not used for so long nobody asks to the hour.
const keptMs = 400 * 24 * hourMs;
const flushMs = 200;
const mostKnown = 100_000;

type Known = { kind: string; id: string; at: number };

export type CredentialUses = AsyncDisposable & {
  /** Notes that a credential was used. Costs a look at a map; once an hour it is written, soon after. */
  note(use: CredentialUse): void;
};

export function createCredentialUses(
  { db, now }: Pick<Deps, "db" | "now">,
  onError: (error: unknown) => void,
): CredentialUses {
  // By instance, then by owner: a text put together of all parts would be made and hashed with each request.
  const known = new Map<string, Map<string, Known[]>>();
  let count = 0;
  let waiting: CredentialUse[] = [];

  function remember({ instanceId, ownerId, kind, id }: CredentialUse, at: number): void {
    if (count >= mostKnown) {
      known.clear();
      count = 0;
    }
    count += 1;
    let owners = known.get(instanceId);
    if (owners === undefined) known.set(instanceId, (owners = new Map()));
    const ofOwner = owners.get(ownerId);
    if (ofOwner === undefined) owners.set(ownerId, [{ kind, id, at }]);
    else ofOwner.push({ kind, id, at });
  }

  async function write(instanceId: string, uses: CredentialUse[]): Promise<void> {
    const usedAt = now();
    const before = await lastUses(
      db,
      instanceId,
      uses.map(({ ownerId }) => ownerId),
    );
    // Another process may have written it in this hour.
    const due = uses.filter((use) => {
      const last = before(use);
      return last === undefined || usedAt.getTime() - last.getTime() >= hourMs;
    });
    if (due.length === 0) return;
    const expiresAt = new Date(usedAt.getTime() + keptMs);
    const changes = due.map(({ ownerId, kind, id }) =>
      putRow(credentialUses, { instanceId, ownerId, kind, id, usedAt, expiresAt }),
    );
    await db.commit({ instanceId, expect: [], claims: [], events: [], changes });
  }

  const flushing = deferredWrite(async () => {
    const taken = waiting;
    waiting = [];
    for (const [instanceId, uses] of Map.groupBy(taken, (each) => each.instanceId)) {
      await write(instanceId, uses).catch(onError);
    }
  }, flushMs);

  return {
    note(use) {
      const at = now().getTime();
      const last = known
        .get(use.instanceId)
        ?.get(use.ownerId)
        ?.find(({ id, kind }) => id === use.id && kind === use.kind);
      if (last === undefined) remember(use, at);
      else if (at - last.at < hourMs) return;
      else last.at = at;
      waiting.push(use);
      flushing.ask();
    },
    [Symbol.asyncDispose]: flushing[Symbol.asyncDispose],
  };
}

/** When credentials of these were used last; undefined where they were not. */
export async function lastUses(
  db: Database,
  instanceId: string,
  ownerIds: readonly string[],
): Promise<(of: { ownerId: string; kind: string; id: string }) => Date | undefined> {
  const ids = [...new Set(ownerIds)];
  const rows =
    ids.length === 0 ? [] : await rowsWhere(db, credentialUses, { instanceId, ownerId: ids });
  const found = new Map(
    rows.map(({ ownerId, kind, id, usedAt }) => [`${kind}/${id}/${ownerId}`, usedAt]),
  );
  return ({ ownerId, kind, id }) => found.get(`${kind}/${id}/${ownerId}`);
}
