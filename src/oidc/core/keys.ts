import type { Endpoint } from "./endpoint.ts";
import type { OidcAnswer } from "./http.ts";
import { keysPath } from "./paths.ts";
import type { PublicKey } from "./key-ports.ts";
import type { Ports } from "./ports.ts";

// How long the next key is published before it signs is counted on this.
const cached = "max-age=300, must-revalidate";

/** The key set (RFC 7517 section 5): what anybody verifies our signatures with. */
export function keysEndpoint({ keys }: Pick<Ports, "keys">): Endpoint {
  const bodies = new WeakMap<readonly PublicKey[], OidcAnswer>();
  return {
    metadata: "jwks_uri",
    path: keysPath,
    methods: ["GET"],
    caller: "client",
    crossOrigin: "any",
    isChange: false,
    async handle(_, at) {
      const published = await keys.publicKeys(at);
      let answer = bodies.get(published);
      if (answer === undefined) {
        const headers = { "content-type": "application/json", "cache-control": cached };
        answer = { status: 200, headers, body: JSON.stringify({ keys: published }) };
        bodies.set(published, answer);
      }
      return answer;
    },
  };
}
