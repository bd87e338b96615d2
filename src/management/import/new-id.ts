import { requireChosenId } from "../../authz/chosen-id.ts";
import { alreadyExists } from "../../errors.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { clientIdIsId, idGuard } from "../../resources/user/index.ts";
import type { NoteType, ImportContext } from "./kind.ts";

const named: readonly NoteType[] = ["organization", "project", "app", "user"];

/**
 * Whether a record may bring its id along, where what it is about has yet to be created.
 *
 * @throws INVALID_ARGUMENT ID_MALFORMED, ID_RESERVED; ALREADY_EXISTS by the reason that is given
 */
export function newIdGuard(deps: Deps) {
  const ids = idGuard(deps);

  async function requireNewId(
    tx: Transaction,
    { instanceId, known }: ImportContext,
    id: string,
    { field, taken }: { field: string; taken: string },
  ): Promise<void> {
    requireChosenId(id, field, { allDigits: true });
    const refusal = () => alreadyExists(taken, "the id is or was in use in the instance");
    await ids.requireFree(tx, instanceId, id, refusal, known.isClientId(id));
    // What records before it made in a dry run stands in notes alone.
    for (const type of named) if ((await known.find(type, id)) !== undefined) throw refusal();
  }

  /** The same for the client id of an app. @throws FAILED_PRECONDITION CLIENT_ID_IS_ID */
  async function ofClient(
    tx: Transaction,
    { instanceId, known }: ImportContext,
    clientId: string,
  ): Promise<void> {
    requireChosenId(clientId, "app.client_id", { allDigits: true });
    await ids.requireNoId(tx, instanceId, clientId);
    for (const type of named) {
      if ((await known.find(type, clientId)) !== undefined) throw clientIdIsId();
    }
  }

  return Object.assign(requireNewId, { ofClient });
}
