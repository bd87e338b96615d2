import { type Authorize, authorizeEndpoints } from "./authorize/index.ts";
import { endSessionEndpoint } from "./end-session.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Ports } from "./ports.ts";

/** What browsers are led to. */
export const browserEndpoints = (ports: Ports, authorize: Authorize): Endpoint[] => [
  ...authorizeEndpoints(ports, authorize),
  endSessionEndpoint(ports),
];
