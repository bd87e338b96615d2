import { deviceAuthorizationEndpoint } from "./device-authorization.ts";
import { discoveryEndpoint } from "./discovery.ts";
import type { Endpoint } from "./endpoint.ts";
import { introspectionEndpoint } from "./introspect.ts";
import { keysEndpoint } from "./keys.ts";
import { revocationEndpoint } from "./revoke.ts";
import { tokenEndpoint } from "./token/endpoint.ts";
import type { TokenParts } from "./token/grant.ts";
import { userinfoEndpoint } from "./userinfo.ts";

/** What clients call. The discovery document tells of these and of the others. */
export const clientEndpoints = (
  parts: TokenParts,
  all: () => readonly Endpoint[],
): readonly Endpoint[] => [
  discoveryEndpoint(parts, all),
  keysEndpoint(parts),
  tokenEndpoint(parts),
  introspectionEndpoint(parts),
  revocationEndpoint(parts),
  userinfoEndpoint(parts),
  deviceAuthorizationEndpoint(parts),
];
