import { on, projection, touch } from "../../projection/projection.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { deleteRows, putRow } from "../../storage/row-change.ts";
import { bytes, instant, int64, table, text } from "../../storage/table.ts";
import { userEvents } from "./events.ts";
import { metadataEvents } from "./metadata-events.ts";

export const userMetadata = table(
  "user_metadata",
  {
    instanceId: text(),
    userId: text(),
    id: text(),
    keyFolded: text(),
    organizationId: text(),
    value: bytes(),
    sequence: int64(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "userId", "id"],
    indexes: [{ columns: ["instanceId", "organizationId", "userId", "id"] }],
  },
);

export const metadataProjection = projection(
  "user_metadata",
  [userMetadata],
  on(metadataEvents, {
    "user.metadata.set": (event) => [
      putRow(userMetadata, {
        instanceId: event.instanceId,
        userId: event.payload.userId,
        id: event.payload.key,
        keyFolded: caseFold(event.payload.key),
        organizationId: event.owner.id,
        value: Uint8Array.from(Buffer.from(event.payload.value, "base64")),
        ...touch(event),
      }),
    ],
    "user.metadata.removed": ({ instanceId, payload }) => [
      deleteRows(userMetadata, { instanceId, userId: payload.userId, id: payload.key }),
    ],
  }),
  on(userEvents, {
    "user.removed": ({ instanceId, aggregateId }) => [
      deleteRows(userMetadata, { instanceId, userId: aggregateId }),
    ],
  }),
);
