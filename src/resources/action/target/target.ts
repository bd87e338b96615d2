import { failedPrecondition, notFound } from "../../../errors.ts";
import { aggregate, changedFields, isEmpty } from "../../../eventstore/aggregate.ts";
import { type TargetConfig, type TargetEvent, targetEvents } from "./events.ts";

export const defaultTimeoutMs = 10_000;

export type Target = TargetConfig | undefined;

export const target = aggregate(targetEvents, undefined as Target, evolve);

function evolve(state: Target, event: TargetEvent): Target {
  switch (event.type) {
    case "target.added":
      return { ...event.payload, payloadSecrets: event.payload.payloadSecrets ?? false };
    case "target.changed": {
      if (state === undefined) return undefined;
      const { signingKeyRotated: _, ...changes } = event.payload;
      return { ...state, ...changes };
    }
    case "target.removed":
      return undefined;
    default:
      return event satisfies never;
  }
}

export function createTarget(state: Target, config: TargetConfig): TargetEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("TARGET_EXISTS", "a target with this id exists");
  }
  const { payloadSecrets, ...rest } = config;
  return [targetEvents.added(payloadSecrets ? config : rest)];
}

export type TargetPatch = { changes: Partial<TargetConfig>; rotateSigningKey: boolean };

/** A patch that changes nothing is no event and no error. Who is told secrets was decided for an address: another ends it. */
export function patchTarget(state: Target, patch: TargetPatch): TargetEvent[] {
  if (state === undefined) throw targetNotFound();
  const isElsewhere = patch.changes.url !== undefined && patch.changes.url !== state.url;
  const ended = isElsewhere ? { payloadSecrets: false } : {};
  const changes = changedFields(state, { ...ended, ...patch.changes });
  if (patch.rotateSigningKey) {
    return [targetEvents.changed({ ...changes, signingKeyRotated: true })];
  }
  return isEmpty(changes) ? [] : [targetEvents.changed(changes)];
}

export function deleteTarget(state: Target): TargetEvent[] {
  if (state === undefined) throw targetNotFound();
  // The name goes with the event, so that it can be read in a history and given to another target.
  return [targetEvents.removed({ name: state.name })];
}

export const targetNotFound = () => notFound("TARGET_NOT_FOUND", "the target does not exist");
