import type { Awaitable } from "../../awaitable.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import { CachedResponse } from "../../authz/response-cache.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Deps } from "../../projection/module.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead, current } from "../../storage/read-cache.ts";
import {
  type Change,
  type ContextSettings,
  countingValues,
  propertyOf,
  readSettings,
  resolve,
  settingContexts,
  type SettingsGroup,
  type SettingValue,
  type SetValues,
  settingValues,
  systemLog,
  systemOwner,
} from "./settings.ts";
import { contextInvalid } from "../../authz/tenancy.ts";

/** The context that a call sets or reads settings of, and the log that its events are in. */
export function settingsContextOf({ context, instanceId }: Scope): {
  log: string;
  owner: OwnerRef;
} {
  switch (context.type) {
    case "system":
      return { log: systemLog, owner: systemOwner };
    case "instance":
      return { log: instanceId, owner: { type: "instance", id: instanceId } };
    case "organization":
      return { log: instanceId, owner: { type: "org", id: context.organizationId } };
  }
}

/**
 * Refuses a context that the settings cannot be set in, and that therefore has none of its own.
 *
 * @throws INVALID_ARGUMENT CONTEXT_INVALID
 */
export function requireLevel({ name, levels }: SettingsGroup, scope: Scope): void {
  const { type } = settingsContextOf(scope).owner;
  if (levels.includes(type)) return;
  const asked = { system: "the system", instance: "an instance", org: "an organization" }[type];
  throw contextInvalid(
    `${asked} has no ${name} settings: leave out ctx and the header x-idsvc-orgid for those of the instance`,
  );
}

/** The contexts whose settings count in an organization, or in the instance itself; the nearest first. */
export type SettingsChain = (
  instanceId: string,
  organizationId?: string,
) => Promise<readonly ContextSettings[]>;

export function settingsChain(db: Database, group: SettingsGroup): SettingsChain {
  const read = cachedRead(db, [settingValues, settingContexts], (instanceId, organizationId) =>
    readSettings(
      db,
      group.name,
      instanceId,
      organizationId === ""
        ? { type: "instance", id: instanceId }
        : { type: "org", id: organizationId },
    ),
  );
  return async (instanceId, organizationId = "") => {
    const ofInstance = await read(instanceId, "");
    if (organizationId === "") return [ofInstance];
    const own = await read(instanceId, organizationId);
    return [{ ...own, values: countingValues(group, own.values, ofInstance.values) }, ofInstance];
  };
}

const mostAnswers = 1_000;

/**
 * Answers what the settings come to in the context of a call; made once, until any of them changes.
 *
 * @param make of the contexts that count, nearest first, and the issuer that the call came to
 */
export function resolvedSettings<T extends object>(
  db: Database,
  group: SettingsGroup,
  make: (chain: readonly ContextSettings[], issuer: string) => T,
): (scope: Scope) => Promise<CachedResponse<T>> {
  const chainOf = settingsChain(db, group);
  const load = async (instanceId: string, key: string) => {
    const [organizationId = "", issuer = ""] = key.split(" ");
    return new CachedResponse(make(await chainOf(instanceId, organizationId), issuer));
  };
  const answers = cachedRead(db, [settingValues, settingContexts], load, mostAnswers);
  // Also what is not held here is made of cached reads, which may lag.
  const read = current(db, answers);
  return async (scope) => {
    requireLevel(group, scope);
    const { context, instanceId, issuer } = scope;
    const organizationId = context.type === "organization" ? context.organizationId : "";
    return read(instanceId, `${organizationId} ${issuer}`);
  };
}

/** Gives a value of each property, as it is stored. */
export type ValueOf<P extends string> = (property: P) => SettingValue;

export type SettingsReader<T> = (instanceId: string, organizationId?: string) => Awaitable<T>;

/** Reads what the settings come to in an organization, or in the instance itself. Cached: a hit is no promise. */
export function settingsReader<P extends string, T>(
  db: Database,
  group: SettingsGroup,
  builtIn: Readonly<Record<P, SettingValue>>,
  make: (valueOf: ValueOf<P>, instanceId: string) => T,
): SettingsReader<T> {
  const chainOf = settingsChain(db, group);
  const read = cachedRead(db, [settingValues], async (instanceId, organizationId) => {
    const chain = await chainOf(instanceId, organizationId);
    return make((property) => resolve(chain, property, builtIn[property]).value, instanceId);
  });
  return (instanceId, organizationId = "") => read(instanceId, organizationId);
}

/**
 * Sets what is wished in the context of the call, and tells the last change of the group there: none where nothing was
 * ever set and nothing is wished.
 *
 * @param during what else is asked, and done, in the unit that writes; it is told which properties change
 */
export async function changeSettings(
  { events, tenancy }: Pick<Deps, "events" | "tenancy">,
  group: SettingsGroup,
  scope: Scope,
  wished: Record<string, Change>,
  during?: (tx: Transaction, changed: ReadonlySet<string>) => Promise<void>,
): Promise<Pick<ContextSettings, "owner" | "last">> {
  requireLevel(group, scope);
  const { log, owner } = settingsContextOf(scope);
  const written = await events.transact(writeContext(scope, log), async (tx) => {
    const loaded = await tx.load(group.aggregate, owner.id === "" ? log : owner.id);
    const demanded = owner.type === "org" ? await demandedOf(tx, group, log) : {};
    const happened = group.decide(owner.type, loaded.state, wished, demanded);
    await tenancy.requireContext(tx, scope);
    await during?.(tx, new Set(happened.map(propertyOf)));
    tx.requireSequence(loaded.last?.sequence ?? 0n);
    tx.record(group.aggregate, loaded, happened, owner);
    // Setting nothing where nothing was ever set succeeds, and there is no event to tell of.
    return loaded.last === undefined && happened.length === 0
      ? () => undefined
      : tx.written(loaded);
  });
  return { owner, last: written() };
}

/** What the instance has set that its organizations must be as strict as; read in the unit that writes theirs. */
export async function demandedOf(
  tx: Transaction,
  { aggregate, rules }: SettingsGroup,
  instanceId: string,
): Promise<SetValues> {
  if (Object.keys(rules.floors).length === 0) return {};
  return (await tx.load(aggregate, instanceId)).state;
}

/** Sets what a new instance begins with, in the unit that makes it. */
export function setFirst(
  tx: Transaction,
  { aggregate, decide }: SettingsGroup,
  instanceId: string,
  values: SetValues,
): void {
  const loaded = tx.begin(aggregate, instanceId);
  const wished = Object.entries(values).map(([property, set]) => [property, { set }] as const);
  const happened = decide("instance", loaded.state, Object.fromEntries(wished), {});
  tx.record(aggregate, loaded, happened, { type: "instance", id: instanceId });
}
