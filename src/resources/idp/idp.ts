import type { JsonObject } from "@bufbuild/protobuf";
import { failedPrecondition, notFound } from "../../errors.ts";
import { aggregate, changedFields, isEmpty, type Patch } from "../../eventstore/aggregate.ts";
import type { StatePolicy } from "../object/reuse/state.ts";
import { changedSecretBound, orderedConfig } from "./config.ts";
import {
  type IdpEvent,
  type IdpFacts,
  type IdpLevel,
  type IdpOptions,
  idpTypeOf,
  instanceIdpEvents,
  isAdded,
  isChanged,
} from "./events.ts";
import { type IdpType, type ProviderType, providerTypes } from "./provider-types.ts";

export type IdpState = IdpFacts & { level: IdpLevel; type: IdpType; hasSecret: boolean };
type State = IdpState | undefined;

/** A provider, of the instance or of an organization. */
export const idp = aggregate(instanceIdpEvents, undefined as State, evolve);

function evolve(state: State, event: IdpEvent): State {
  if (isAdded(event)) {
    const level = event.type.startsWith("org.") ? "org" : "instance";
    const { hasSecret, ...facts } = event.payload;
    return { ...facts, level, type: idpTypeOf(event), hasSecret };
  }
  if (!isChanged(event) || state === undefined) return undefined;
  const { secretChanged = false, ...changes } = event.payload;
  return { ...state, ...changes, hasSecret: state.hasSecret || secretChanged };
}

export function createIdp(
  level: IdpLevel,
  type: IdpType,
  facts: IdpFacts & { hasSecret: boolean },
): IdpEvent[] {
  return [{ type: `${level}.idp.${type}.added`, payload: facts }];
}

export type IdpPatch = {
  name?: string | undefined;
  statePolicy?: StatePolicy | undefined;
  options?: Partial<IdpOptions> | undefined;
  mark?: string | undefined;
  /** Gives the whole configuration as it would be. */
  config?: ((before: JsonObject) => JsonObject) | undefined;
  secretChanged: boolean;
};

/**
 * Changes a provider in the context that it belongs to. A patch that changes nothing is no event and no error.
 *
 * @throws FAILED_PRECONDITION IDP_SECRET_REQUIRED when the secret that is stored would go elsewhere
 */
export function patchIdp(state: State, patch: IdpPatch): IdpEvent[] {
  if (state === undefined) throw idpNotFound();
  const { level, type, hasSecret, ...stored } = state;
  const facts = { mark: "", ...stored, config: orderedConfig(type, stored.config) };
  const wanted: Patch<IdpFacts> = {
    name: patch.name,
    statePolicy: patch.statePolicy,
    options: patch.options && { ...facts.options, ...patch.options },
    mark: patch.mark,
    config: patch.config?.(facts.config),
  };
  const changes = changedFields(facts, wanted);
  const { secretChanged } = patch;
  if (hasSecret && !secretChanged && changes.config !== undefined) {
    const changed = changedSecretBound(providerTypes[type], facts.config, changes.config);
    if (changed !== undefined) throw secretRequired(type, changed);
  }
  if (isEmpty(changes) && !secretChanged) return [];
  const payload = secretChanged ? { ...changes, secretChanged } : changes;
  return [{ type: `${level}.idp.${type}.changed`, payload }];
}

export function removeIdp(state: State): IdpEvent[] {
  if (state === undefined) throw idpNotFound();
  return [{ type: `${state.level}.idp.removed`, payload: { name: state.name } }];
}

export const idpNotFound = () => notFound("IDP_NOT_FOUND", "the identity provider does not exist");

const secretRequired = (type: IdpType, changed: string) => {
  const { secret: name }: ProviderType = providerTypes[type];
  const secret = `idp.config.${name}`;
  const field = `idp.config.${changed}`;
  return failedPrecondition(
    "IDP_SECRET_REQUIRED",
    `the stored secret would go elsewhere with another ${field}: send ${secret} as well`,
    { metadata: { field, secret } },
  );
};
