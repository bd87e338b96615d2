import { defineEvents, type EventOf, payload } from "../../eventstore/event.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import { notFound } from "../../errors.ts";

/** A value is base64: others keep it with a user, and it may tell of them. */
type Set = { userId: string; key: string; value: string };

/** Facts about the values that others keep with a user, an object each. */
export const metadataEvents = defineEvents(
  "user.metadata",
  {
    set: payload<Set>({ personal: ["value"], subject: ({ userId }) => userId }),
    removed: payload<{ userId: string; key: string }>(),
  },
  "user_metadata",
);

type MetadataEvent = EventOf<typeof metadataEvents>;
type State = string | undefined;

export const metadata = aggregate(metadataEvents, undefined as State, (_, event: MetadataEvent) =>
  event.type === "user.metadata.set" ? event.payload.value : undefined,
);

export const metadataId = (userId: string, key: string): string => `${userId}/${key}`;

/** The same value again is no event. */
export const setMetadata = (state: State, wanted: Set): MetadataEvent[] =>
  state === wanted.value ? [] : [metadataEvents.set(wanted)];

export function removeMetadata(state: State, at: { userId: string; key: string }): MetadataEvent[] {
  if (state === undefined) throw metadataNotFound();
  return [metadataEvents.removed(at)];
}

export const metadataNotFound = () =>
  notFound("METADATA_NOT_FOUND", "the user has no value under this key");
