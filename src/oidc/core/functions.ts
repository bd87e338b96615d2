import type { Awaitable } from "../../awaitable.ts";
import type { Actor, At, User } from "./ports.ts";

/** The points at which executions may add to what is told of a user (X12). */
export type FunctionName = "preuserinfo" | "preaccesstoken" | "preidtoken";

/** What a point is about: the claims as far as they are made, and for whom. */
export type FunctionContext = {
  user: User;
  clientId: string;
  actor?: Actor | undefined;
  claims: Readonly<Record<string, unknown>>;
};

export interface Functions {
  /**
   * The claims to add at a point; none that is there already, none by which tokens are trusted (X7).
   * @throws what a target with `interrupt_on_error` makes of it
   */
  add(at: At, name: FunctionName, context: FunctionContext): Awaitable<Record<string, unknown>>;
}

/** Claims with what the executions of a point add to them. */
export async function withFunction(
  { functions }: { functions: Functions },
  at: At,
  name: FunctionName,
  context: FunctionContext,
): Promise<Record<string, unknown>> {
  return { ...(await functions.add(at, name, context)), ...context.claims };
}
