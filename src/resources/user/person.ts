import { failedPrecondition } from "../../errors.ts";
import { type User, userNotFound } from "./user.ts";

/** @throws FAILED_PRECONDITION USER_IS_MACHINE */
export function requirePerson(state: User | undefined): asserts state is User {
  if (state === undefined) throw userNotFound();
  if (state.schemaType !== "machine") return;
  throw failedPrecondition(
    "USER_IS_MACHINE",
    "a machine user has no password and no second factor: it has keys, tokens and a secret",
  );
}

/** @throws FAILED_PRECONDITION USER_NOT_MACHINE */
export function requireMachine(state: User | undefined): asserts state is User {
  if (state === undefined) throw userNotFound();
  if (state.schemaType === "machine") return;
  throw failedPrecondition("USER_NOT_MACHINE", "only a machine user has keys and a secret");
}
