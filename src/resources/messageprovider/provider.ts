import { isDeepStrictEqual } from "node:util";
import { failedPrecondition } from "../../errors.ts";
import { aggregate, type Aggregate, changedFields, isEmpty } from "../../eventstore/aggregate.ts";
import type { StatePolicy } from "../object/reuse/state.ts";
import {
  isActivated,
  isAdded,
  isChanged,
  isDeactivated,
  isRemoved,
  levelOf,
  type OtherEvent,
  type ProviderAdded,
  type ProviderChange,
  type ProviderEvent,
  providerEvents,
  type ProviderFacts,
} from "./events.ts";
import {
  type MessageProviderKind,
  type ProviderConfig,
  type ProviderLevel,
  providerNotFound,
  reasonOf,
  secretRequired,
} from "./kind.ts";

/** `hasSecret` tells of what a caller brought; the signing keys of HTTP providers are the service's own. */
export type Provider<C> = ProviderAdded<C> & { level: ProviderLevel };
type State<C> = Provider<C> | undefined;

export function providerAggregate<C extends ProviderConfig>(
  kind: MessageProviderKind<C>,
): Aggregate<State<C>, ProviderEvent<C>> {
  return aggregate(providerEvents("instance", kind), undefined as State<C>, evolve);

  function evolve(state: State<C>, event: ProviderEvent<C>): State<C> {
    if (isAdded(event)) return { ...event.payload, level: levelOf(event) };
    if (state === undefined || isRemoved(event)) return undefined;
    if (isActivated(event)) return { ...state, statePolicy: event.payload.statePolicy };
    if (isDeactivated(event)) return { ...state, statePolicy: "deactivate" };
    if (!isChanged(event)) return { ...state, hasSecret: true };
    const { description = state.description, config = state.config } = event.payload;
    const hasSecret = state.hasSecret && kind.usesSecret(config);
    return { ...state, description, config, hasSecret };
  }
}

const named = <S extends string>(
  level: ProviderLevel,
  { name }: Pick<MessageProviderKind<never>, "name">,
  what: S,
) => `${level}.${name}.config.${what}` as const;

export function createProvider<C extends ProviderConfig>(
  kind: MessageProviderKind<C>,
  level: ProviderLevel,
  facts: ProviderFacts<C> & { hasSecret: boolean },
): ProviderEvent<C>[] {
  return [{ type: named(level, kind, "added"), payload: facts }];
}

export type ProviderPatch<C> = {
  description: string | undefined;
  /** Gives the configuration as it would be. */
  config: (before: C) => C;
  /** A new secret comes along. */
  bringsSecret: boolean;
  rotatesSigningKey: boolean;
  statePolicy: StatePolicy | undefined;
};

/**
 * Changes a provider in the context that it belongs to. A patch that changes nothing is no event and no error.
 *
 * @throws FAILED_PRECONDITION where the stored secret would go elsewhere, or none is there for who needs one
 */
export function patchProvider<C extends ProviderConfig>(
  kind: MessageProviderKind<C>,
  state: State<C>,
  patch: ProviderPatch<C>,
): ProviderEvent<C>[] {
  if (state === undefined) throw providerNotFound(kind);
  const { config: before, description, hasSecret, level } = state;
  const config = patch.config(before);
  if (kind.usesSecret(config) && !patch.bringsSecret) {
    const movedBy = hasSecret ? kind.moves(before, config) : "user";
    if (movedBy !== undefined) throw secretRequired(kind, movedBy);
  }
  const changes: ProviderChange<C> = {
    ...changedFields({ description }, { description: patch.description }),
    // A database may have turned the fields round.
    ...(isDeepStrictEqual(before, config) ? {} : { config }),
  };
  const happened: ProviderEvent<C>[] = [];
  if (!isEmpty(changes) || patch.rotatesSigningKey) {
    const payload = patch.rotatesSigningKey
      ? { ...changes, signingKeyRotated: true as const }
      : changes;
    happened.push({ type: named(level, kind, "changed"), payload });
  }
  if (patch.bringsSecret) {
    happened.push({ type: named(level, kind, `${kind.secret}.changed`), payload: {} });
  }
  const { statePolicy } = patch;
  return statePolicy === undefined
    ? happened
    : [...happened, ...setOwnPolicy(kind, state, statePolicy)];
}

function setOwnPolicy<C extends ProviderConfig>(
  kind: MessageProviderKind<C>,
  state: Provider<C>,
  statePolicy: StatePolicy,
): ProviderEvent<C>[] {
  if (state.statePolicy === statePolicy) return [];
  const { level } = state;
  return statePolicy === "deactivate"
    ? [deactivated(kind, level)]
    : [{ type: named(level, kind, "activated"), payload: { statePolicy } }];
}

const deactivated = (
  kind: Pick<MessageProviderKind<never>, "name">,
  level: ProviderLevel,
): OtherEvent => ({ type: named(level, kind, "deactivated"), payload: {} });

/** Sets the state of a provider in the context that it belongs to. */
export const turnProvider = <C extends ProviderConfig>(
  kind: MessageProviderKind<C>,
  state: State<C>,
  policy: "activate" | "deactivate",
): ProviderEvent<C>[] => {
  if (state === undefined) throw providerNotFound(kind);
  return setOwnPolicy(kind, state, policy);
};

/** What becomes of the provider that was active until another one was activated. */
export const stepDown = <C extends ProviderConfig>(
  kind: MessageProviderKind<C>,
  state: State<C>,
): ProviderEvent<C>[] =>
  state === undefined || state.statePolicy === "deactivate" ? [] : [deactivated(kind, state.level)];

export function removeProvider<C extends ProviderConfig>(
  kind: MessageProviderKind<C>,
  state: State<C>,
): ProviderEvent<C>[] {
  if (state === undefined) throw providerNotFound(kind);
  return [{ type: named(state.level, kind, "removed"), payload: {} }];
}

/**
 * Refuses what has been done already.
 *
 * @throws FAILED_PRECONDITION in the words of the kind
 */
export function requireOtherState(
  kind: Pick<MessageProviderKind<never>, "name">,
  isActive: boolean,
  wanted: "activate" | "deactivate",
): void {
  if (wanted === "activate" && isActive) {
    throw failedPrecondition(reasonOf(kind, "ACTIVE_ALREADY"), "the provider is active already");
  }
  if (wanted === "deactivate" && !isActive) {
    throw failedPrecondition(
      reasonOf(kind, "INACTIVE_ALREADY"),
      "the provider is inactive already",
    );
  }
}
