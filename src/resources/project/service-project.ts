import { failedPrecondition } from "../../errors.ts";
import type { Invariant } from "../../eventstore/settle.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { instance } from "../instance/index.ts";
import { projects } from "./project.ts";

/** Whether the tokens for the API of the service itself are made for this project. */
export const isServiceProject = async (
  tx: Transaction,
  instanceId: string,
  id: string,
): Promise<boolean> => (await serviceProject(tx, instanceId)) === id;

const serviceProject = async (tx: Transaction, instanceId: string): Promise<string | undefined> =>
  (await tx.load(instance, instanceId)).state?.projectId;

/** The organization that holds the project of the service itself stays. */
export const serviceProjectStays: Invariant = {
  after: ["org.removed"],
  async hold(tx, { instanceId }, happened) {
    const own = await tx.load(projects.aggregate, (await serviceProject(tx, instanceId)) ?? "");
    const holder = own.last?.owner.id;
    if (!happened.some(({ aggregateId }) => aggregateId === holder)) return;
    throw failedPrecondition(
      "ORGANIZATION_HOLDS_SERVICE",
      "the organization holds the project of the service itself and cannot be deleted",
    );
  },
};
