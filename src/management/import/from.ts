import type { Presence } from "../../eventstore/presence.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import type { RowChange } from "../../storage/row-change.ts";
import type { Row } from "../../storage/table.ts";
import type { imports } from "./tables.ts";

type From = Pick<Row<typeof imports>, "importedFrom" | "keyType" | "keyId" | "sealed">;
type At = { instanceId: string; id: string };

const nobody: From = { importedFrom: null, keyType: null, keyId: null, sealed: null };

/**
 * Who asks for an import, for the events that its job writes later (L4): sealed with the key of the person, so that
 * nothing is left of where they were when they are erased meanwhile.
 */
export async function keepPresence(
  { events }: Pick<Deps, "events">,
  tx: Transaction,
  at: At,
): Promise<{ columns: From; changes: RowChange[] }> {
  const { presence } = tx.at;
  if (presence === undefined) return { columns: nobody, changes: [] };
  const { sealed, changes } = await events.seen.seal(tx, at, presence, new Map());
  const { address: _, browser: __, system: ___, isVisitor: ____, ...importedFrom } = presence;
  return { columns: { importedFrom, ...sealed }, changes };
}

/** Who was there; nobody once what was seen of them can be read no more. */
export async function presenceIn(
  { events, now }: Pick<Deps, "events" | "now">,
  { instanceId, id, importedFrom, keyType, keyId, sealed }: From & At,
): Promise<{ presence?: Presence }> {
  if (importedFrom === null) return {};
  const row = { instanceId, id, keyType: keyType ?? "", keyId: keyId ?? "", sealed };
  const seen = await events.seen.open(row, now());
  return seen === undefined ? {} : { presence: { ...importedFrom, ...seen } };
}
