import { alreadyExists } from "../../errors.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { requireOrganization } from "../../resources/org/index.ts";
import { projects } from "../../resources/project/index.ts";
import { textIn } from "../convert.ts";
import type { ImportContext, Known, NoteType } from "./kind.ts";

/** @throws NOT_FOUND PROJECT_NOT_FOUND also for a project of another organization */
export async function requireOwnProject(
  tx: Transaction,
  projectId: string,
  { orgId, known }: ImportContext,
): Promise<void> {
  await requireOrganization(tx, orgId);
  const loaded = await tx.load(projects.aggregate, projectId);
  if (loaded.state === undefined || (await ownerOf(known, "project", loaded)) !== orgId) {
    throw projects.missing();
  }
}

/** The organization that an object belongs to, also before the object is in the store. */
export async function ownerOf(
  known: Known,
  type: NoteType,
  { id, last }: Loaded<unknown>,
): Promise<string> {
  return last?.owner.id ?? textIn(await known.find(type, id), "orgId");
}

export const idTaken = (reason: string, what: string) =>
  alreadyExists(reason, `the id is or was that of ${what} elsewhere`);
