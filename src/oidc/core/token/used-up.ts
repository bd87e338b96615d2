import type { At, Spend, Tokens } from "../ports.ts";

type Assertions = readonly Spend[];

/**
 * Does what assertions are for. Where it fails they are used up all the same: an assertion whose signature was good counts once,
 * whatever becomes of it (J18, RFC 7523 section 3). Where it succeeds, it uses them up itself.
 */
export async function usedUpAnyway<T>(
  tokens: Pick<Tokens, "spend">,
  at: At,
  assertions: Assertions,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    for (const each of assertions) if (each.kind === "assertion") await tokens.spend(at, each);
    throw error;
  }
}
