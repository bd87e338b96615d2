import { alreadyExists } from "../../errors.ts";
import { hold } from "../../eventstore/event.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { table, text } from "../../storage/table.ts";

/** OAuth client ids of apps and of machine users share one space (C4). */
export const clientIdClaim = "oauth.client_id";

/** The claim statement of a client id: no two clients of an instance have ids that look alike. */
export const holdClientId = (clientId: string) => hold(clientIdClaim, caseFold(clientId));

export const clientIdTaken = () =>
  alreadyExists(
    "CLIENT_ID_TAKEN",
    "an app or a machine user of the instance has or had this client id, in this or a like spelling",
  );

/** The client ids of apps that were deleted, folded: nobody is called so any more (J7). Its rows are the app's projection. */
export const formerClientIds = table(
  "former_client_ids",
  { instanceId: text(), clientIdFolded: text(), appId: text() },
  { key: ["instanceId", "clientIdFolded", "appId"] },
);
