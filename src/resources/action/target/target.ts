import type { Patch } from "../../../eventstore/aggregate.ts";
import { caseFold } from "../../../storage/case-fold.ts";
import { payload } from "../../../eventstore/event.ts";
import { field } from "../../object/fields.ts";
import { defineResource, type ResourceConfig } from "../../object/resource.ts";

export const defaultTimeoutMs = 10_000;

export type TargetKind = "rest_webhook" | "rest_request_response";

/** A target: an address outside that is called. */
export const targets = defineResource({
  name: "target",
  events: "target",
  table: "targets",
  owner: "instance",
  states: false,
  fields: {
    name: field.text({ folded: true }),
    kind: field.text({}),
    url: field.text({}),
    timeoutMs: field.int({}),
    isAsync: field.bool({}),
    interruptOnError: field.bool({}),
    // Payloads hold the secrets of messages; targets of earlier releases were told them without anybody's word.
    payloadSecrets: field.bool({ absent: false }),
  },
  kept: ["name"],
  unique: {
    claim: "target.name",
    fields: ["name"],
    of: ({ name }) => caseFold(name),
    taken: {
      reason: "TARGET_NAME_TAKEN",
      text: "a target of this name exists, in this or a like spelling",
    },
  },
  notes: payload<{ signingKeyRotated?: boolean }>(),
  indexes: [
    { columns: ["instanceId", "creationDate", "id"] },
    { columns: ["instanceId", "name", "id"] },
    { columns: ["instanceId", "nameFolded", "id"] },
  ],
});

export type TargetConfig = ResourceConfig<typeof targets>;

/** Who is told secrets was decided for an address: another one ends it. */
export function patchTarget(
  state: typeof targets.aggregate.initial,
  patch: Patch<TargetConfig>,
  rotateSigningKey: boolean,
) {
  const isElsewhere = state !== undefined && patch.url !== undefined && patch.url !== state.url;
  const ended = isElsewhere ? { payloadSecrets: false } : {};
  const notes = rotateSigningKey ? { signingKeyRotated: true } : {};
  return targets.patch(state, { ...ended, ...patch }, notes);
}
