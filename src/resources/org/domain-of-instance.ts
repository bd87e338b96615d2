import { invalidField } from "../../errors.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { instance } from "../instance/index.ts";

/** Whether a domain is one at which the instance answers, or lies below one: those it alone gives away (J10). */
export async function isOfInstance(
  tx: Transaction,
  instanceId: string,
  domain: string,
): Promise<boolean> {
  const { state } = await tx.load(instance, instanceId);
  return (state?.domains ?? []).some(({ name }) => domain === name || domain.endsWith(`.${name}`));
}

/** @throws INVALID_ARGUMENT DOMAIN_OF_INSTANCE */
export async function requireElsewhere(
  tx: Transaction,
  instanceId: string,
  domain: string,
  field: string,
): Promise<void> {
  if (!(await isOfInstance(tx, instanceId, domain))) return;
  throw invalidField(
    field,
    "DOMAIN_OF_INSTANCE",
    "domains of the instance, and those below them, are given to organizations by the service alone",
  );
}
