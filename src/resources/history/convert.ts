import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { EventSchema, OriginSchema } from "#gen/idsvc/resources/event/v3alpha/event_pb.ts";
import type { LoggedEvent } from "../../eventstore/eventstore.ts";
import type { FormatEvent } from "../../texts/event-texts.ts";
import { toOwner } from "../object/details.ts";

/** An event as the API shows it. Its payload is what was stored, which is JSON and holds no secret (C7). */
export const toEvent = (
  event: LoggedEvent & { isPayloadOmitted?: boolean },
  format: FormatEvent,
  origin?: MessageInitShape<typeof OriginSchema>,
): MessageInitShape<typeof EventSchema> => ({
  sequence: event.sequence,
  type: event.type,
  creationDate: timestampFromDate(event.createdAt),
  aggregate: {
    type: event.aggregateType,
    id: event.aggregateId,
    version: event.aggregateVersion,
  },
  owner: toOwner(event.owner),
  editor: {
    userId: event.editorId,
    service: event.service,
    clientId: event.clientId,
    requestId: event.requestId,
    ...(origin && { origin }),
  },
  revision: event.revision,
  localizedMessage: format(event.type),
  ...(event.isPayloadOmitted === true
    ? { payloadOmitted: true }
    : { payload: event.payload as JsonObject }),
});
