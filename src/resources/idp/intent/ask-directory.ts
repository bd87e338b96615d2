import { constantTime } from "../../../constant-time.ts";
import type { WriteContext } from "../../../eventstore/transaction.ts";
import type { ExternalIdentity, Federation } from "../../../federation/index.ts";
import type { IntentPorts } from "./intents.ts";

// Longer than a directory nearby takes to find somebody and to judge their password, which are two connections.
const refusalMs = 100;

/**
 * Asks directories at the cost of a guess, which is given back where it was right; undefined where the name or the password is wrong, at
 * times that do not tell which of them. What they refuse is kept with its source, and so is that they could not be asked (J15).
 */
export function directoryAsker({
  budgets,
  federation,
  noteRefusal,
}: Omit<IntentPorts, "features">) {
  const { refusals } = constantTime(refusalMs);
  return async (
    at: WriteContext,
    provider: Parameters<Federation["lookUp"]>[0],
    tried: { username: string; password: string },
  ): Promise<ExternalIdentity | undefined> => {
    const { instanceId, service: operation, presence } = at;
    const refused = (reason: string) => {
      const what = { kind: "login", reason, operation, idpId: provider.id } as const;
      noteRefusal({ instanceId, ...what, presence });
    };
    budgets.spend("guesses", at.source);
    try {
      const { identity } = await refusals(async () => {
        const found = await federation.lookUp(provider, tried);
        return { isRight: found !== undefined, identity: found };
      });
      if (identity === undefined) refused("DIRECTORY_REFUSED");
      else budgets.giveBack("guesses", at.source);
      return identity;
    } catch (error) {
      refused("DIRECTORY_UNAVAILABLE");
      throw error;
    }
  };
}
