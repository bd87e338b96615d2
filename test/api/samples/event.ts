import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { ofService, type Sample } from "./sample.ts";

const first = { filters: [{ sequence: { from: "1", to: "3" } }] };

export const eventSamples: Record<string, Sample> = ofService(EventService.typeName, {
  SearchEvents: {
    valid: () => ({ ...first, query: { asc: true } }),
    invalid: { request: { filters: [{ types: { types: [] } }] }, field: "filters[0].types.types" },
    unknown: undefined,
    writes: false,
  },
  SearchRefusals: {
    // Of the tests beside it refusals come at any time: only of what nobody has tried the answer stays the same.
    valid: () => ({ filters: [{ client: { id: "a client that nobody named" } }] }),
    invalid: { request: { filters: [{ user: { id: "" } }] }, field: "filters[0].user.id" },
    unknown: undefined,
    writes: false,
  },
});
