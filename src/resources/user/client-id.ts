import { hold } from "../../eventstore/event.ts";
import { caseFold } from "../../storage/case-fold.ts";

/** OAuth client ids of apps and of machine users share one space (C4). */
export const clientIdClaim = "oauth.client_id";

/** The claim statement of a client id: no two clients of an instance have ids that look alike. */
export const holdClientId = (clientId: string) => hold(clientIdClaim, caseFold(clientId));
