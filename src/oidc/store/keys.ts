import { type SigningAlgorithm, signingAlgorithms } from "../../crypto/signing-key.ts";
import type { Deps } from "../../projection/module.ts";
import { webKeyReader } from "../../resources/webkey/index.ts";
import type { Keys } from "../core/ports.ts";

/** What an instance signs with: its web keys. */
export function keyStore(deps: Pick<Deps, "db" | "secrets">): Keys {
  const reader = webKeyReader(deps);
  return {
    async signer({ instanceId }, alg) {
      const known: SigningAlgorithm | undefined = signingAlgorithms.find((each) => each === alg);
      const fitting = known && (await reader.signer(instanceId, known));
      return fitting ?? reader.signer(instanceId);
    },
    publicKeys: ({ instanceId }) => reader.publicKeys(instanceId),
  };
}
