import type { WriteContext } from "../../eventstore/transaction.ts";
import type { ExternalIdentity, Federation } from "../../federation/index.ts";
import type { Deps } from "../../projection/module.ts";

/**
 * Asks a directory, at the cost of a guess, which is given back where it was right. What it refuses is kept with its source,
 * and so is that it could not be asked (J15).
 */
export async function askDirectory(
  { budgets, federation, noteRefusal }: Pick<Deps, "budgets" | "federation" | "noteRefusal">,
  at: WriteContext,
  provider: Parameters<Federation["lookUp"]>[0],
  tried: { username: string; password: string },
): Promise<ExternalIdentity | undefined> {
  const { instanceId, service: operation, presence } = at;
  const refused = (reason: string) => {
    const what = { kind: "login", reason, operation, idpId: provider.id } as const;
    noteRefusal({ instanceId, ...what, presence });
  };
  budgets.spend("guesses", at.source);
  try {
    const identity = await federation.lookUp(provider, tried);
    if (identity === undefined) refused("DIRECTORY_REFUSED");
    else budgets.giveBack("guesses", at.source);
    return identity;
  } catch (error) {
    refused("DIRECTORY_UNAVAILABLE");
    throw error;
  }
}
