import { discoveryEndpoint } from "./discovery.ts";
import type { Endpoint } from "./endpoint.ts";
import { introspectionEndpoint } from "./introspect.ts";
import { keysEndpoint } from "./keys.ts";
import { tokenEndpoint } from "./token/endpoint.ts";
import type { TokenParts } from "./token/grant.ts";

/** What clients call. The discovery document tells of these and of the others. */
export const clientEndpoints = (
  parts: TokenParts,
  all: () => readonly Endpoint[],
): readonly Endpoint[] => [
  discoveryEndpoint(parts, all),
  keysEndpoint(parts),
  tokenEndpoint(parts),
  introspectionEndpoint(parts),
];
