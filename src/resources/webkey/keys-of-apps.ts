import { type SigningAlgorithm, signingAlgorithms } from "../../crypto/signing-key.ts";
import type { Reaction } from "../../eventstore/settle.ts";
import type { Deps } from "../../projection/module.ts";
import { requireKeyOf } from "./keys.ts";

/**
 * With an app comes the key that its ID tokens are to be signed with: it is published before it signs.
 * @param to the types of events that say it, as `idTokenSignedResponseAlg`
 */
export const keysGoWithApps = (
  parts: Pick<Deps, "db" | "newId" | "secrets">,
  to: readonly string[],
): Reaction => ({
  to,
  async react(tx, happened) {
    const asked = new Set(
      happened.map(
        ({ payload }) =>
          (payload as { idTokenSignedResponseAlg?: SigningAlgorithm }).idTokenSignedResponseAlg,
      ),
    );
    for (const algorithm of signingAlgorithms) {
      if (asked.has(algorithm)) await requireKeyOf(parts, tx, algorithm);
    }
  },
});
