import { authorizer } from "./authorize/answer.ts";
import { authorizeEndpoints } from "./authorize/index.ts";
import { endSessionEndpoint } from "./end-session.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Ports } from "./ports.ts";

/** What browsers are led to. */
export const browserEndpoints = (ports: Ports): Endpoint[] => [
  ...authorizeEndpoints(ports, authorizer(ports)),
  endSessionEndpoint(ports),
];
