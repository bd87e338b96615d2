import type { PublicJwk, SigningKeyConfig } from "../../crypto/signing-key.ts";
import type { Recorded } from "../../eventstore/event.ts";
import { begin, on, type Projection, projection, touch } from "../../projection/projection.ts";
import { deleteRows, insertRow, updateRows } from "../../storage/row-change.ts";
import { instant, int64, json, table, text } from "../../storage/table.ts";
import { instanceEvents } from "../instance/index.ts";
import { webKeyEvents } from "./events.ts";
import type { WebKeyState } from "./web-key.ts";

export const webKeys = table(
  "web_keys",
  {
    instanceId: text(),
    id: text(),
    config: json<SigningKeyConfig>(),
    publicKey: json<PublicJwk>(),
    state: text(),
    sequence: int64(),
    creationDate: instant(),
    /** Since when the key is in its state: its events are the changes of it. */
    changeDate: instant(),
  },
  { key: ["instanceId", "id"], indexes: [{ columns: ["instanceId", "state"] }] },
);

const row = ({ instanceId, aggregateId: id }: Recorded) => ({ instanceId, id });
const become = (event: Recorded, state: WebKeyState) =>
  updateRows(webKeys, row(event), { state, ...touch(event) });

/** Keys go with their instance, so that nothing rotates them any more. */
export const webKeyProjection: Projection = projection(
  "web_keys",
  [webKeys],
  on(webKeyEvents, {
    "web_key.added": (event) => [
      insertRow(webKeys, { ...begin(event), ...event.payload, state: "initial" }),
    ],
    "web_key.activated": (event) => [become(event, "active")],
    "web_key.deactivated": (event) => [become(event, "inactive")],
    "web_key.removed": (event) => [deleteRows(webKeys, row(event))],
  }),
  on(instanceEvents, {
    "instance.removed": ({ instanceId }) => [deleteRows(webKeys, { instanceId })],
  }),
);
