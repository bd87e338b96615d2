import type { FeatureReader } from "../../authz/ports.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Database } from "../../storage/database.ts";
import { rowByKey } from "../../projection/ids.ts";
import { and, asc, eq, inArray } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { effectiveState, type EffectiveState, type StatePolicy } from "../object/reuse/state.ts";
import { ownerWithin } from "../object/details.ts";
import { configOf } from "./config.ts";
import type { IdpOptions } from "./events.ts";
import { type Mark, markOf, markPath } from "./mark.ts";
import { idpPolicies, idps } from "./projection.ts";
import { type IdpConfigs, type IdpType, idpTypes } from "./provider-types.ts";

/** A provider as a login page offers it. */
export type OfferedIdp = {
  id: string;
  name: string;
  type: IdpType;
  /** Where its mark is, which changes with it; absent where there is none. */
  markPath?: string;
};

/**
 * A provider as a login uses it: `config` is the message of its type. A client without secret is a public one, which
 * always uses PKCE.
 */
export type Idp = {
  [T in IdpType]: {
    id: string;
    type: T;
    name: string;
    owner: OwnerRef;
    options: IdpOptions;
    mark: Mark | undefined;
    config: IdpConfigs[T];
  };
}[IdpType];

export type IdpReader = ReturnType<typeof idpReader>;

/** Identity providers for the login. Answers are cached: a hit gives no promise, and none is older than a second. */
export function idpReader(db: Database, features: FeatureReader) {
  const t = db.table(idps);
  const p = db.table(idpPolicies.table);
  const inContext = cachedRead(
    db,
    [idps, idpPolicies.table],
    async (instanceId, organizationId) => {
      const [rows, policies] = await db.snapshot((read) => [
        read
          .select()
          .from(t)
          .where(and(eq(t.instanceId, instanceId), inArray(t.organizationId, ["", organizationId])))
          .orderBy(asc(t.nameFolded), asc(t.id)),
        read
          .select()
          .from(p)
          .where(and(eq(p.instanceId, instanceId), eq(p.contextId, organizationId))),
      ]);
      const decided = new Map(policies.map(({ resourceId, policy }) => [resourceId, policy]));
      return new Map(rows.map((row) => [row.id, stateOf(row, decided.get(row.id))]));
    },
  );
  const rowOf = rowByKey(db, idps);
  const byId = cachedRead(db, [idps], async (instanceId, id) => {
    const row = await rowOf(instanceId, id);
    return row && toIdp(row);
  });
  const isOn = (instanceId: string) => features.isOn(instanceId, "multitenancy_resources_api");

  return {
    /**
     * The providers that are active in an organization, or in the instance itself, by name; none while the feature
     * `multitenancy_resources_api` is off.
     */
    async list(instanceId: string, organizationId = ""): Promise<readonly OfferedIdp[]> {
      if (!(await isOn(instanceId))) return [];
      const all = await inContext(instanceId, organizationId);
      return [...all.values()]
        .filter(({ state }) => state === "active")
        .map(({ offered }) => offered);
    },
    /** A provider, active or not; undefined once it is gone. */
    provider: (instanceId: string, idpId: string) => byId(instanceId, idpId),
    /**
     * The state of a provider in an organization, or in the instance itself (E2, E5). Undefined where the context
     * does not have it: it is gone, or it is another organization's. While the feature is off all are inactive.
     */
    async effectiveState(
      instanceId: string,
      organizationId: string | undefined = "",
      idpId: string,
    ): Promise<EffectiveState | undefined> {
      const found = (await inContext(instanceId, organizationId)).get(idpId);
      return found && (await isOn(instanceId)) ? found.state : found && "inactive";
    },
  };
}

type IdpRow = Row<typeof idps>;

function stateOf(row: IdpRow, decided: string | undefined) {
  const policies = decided === undefined ? [row.statePolicy] : [row.statePolicy, decided];
  const mark = markOf(row.mark);
  const offered = { id: row.id, name: row.name, type: typeOf(row) };
  return {
    offered: { ...offered, ...(mark && { markPath: markPath(mark, row.id) }) },
    state: effectiveState(policies as StatePolicy[]),
  };
}

function toIdp(row: IdpRow): Idp {
  const type = typeOf(row);
  const { id, instanceId, organizationId, name, options } = row;
  const owner = ownerWithin(instanceId, organizationId);
  // The configuration is made with the message of the very type that stands beside it.
  const mark = markOf(row.mark);
  return { id, type, name, owner, options, mark, config: configOf(type, row.config) } as Idp;
}

/** The type of a stored provider. */
export function typeOf({ type }: { type: string }): IdpType {
  const known = idpTypes.find((each) => each === type);
  if (known === undefined) throw new Error(`${type} is no type of providers`);
  return known;
}
