import {
  InstanceFieldNameSchema,
  InstanceSearchFilterSchema,
} from "#gen/idsvc/resources/instance/v3alpha/query_pb.ts";
import { InstanceState } from "#gen/idsvc/resources/instance/v3alpha/instance_pb.ts";
import type { SearchInstancesRequest } from "#gen/idsvc/resources/instance/v3alpha/instance_service_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { InstanceReader } from "../../authz/ports.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { columnsWhere, rowWhere, rowsWhere } from "../../projection/rows.ts";
import { eq, inArray, sql } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { objectSearch } from "../object/queries.ts";
import { instanceNotFound } from "./instance.ts";
import { instanceDomains, instanceLimits, instances } from "./projection.ts";

export type InstanceRow = Row<typeof instances>;
export type LimitsRow = Row<typeof instanceLimits>;

// Domains and limits belong to the system, not to one instance: any instance's commit on these tables counts.
export function instanceReader(db: Database): InstanceReader {
  const read = cachedRead(db, [instanceDomains, instanceLimits], async (_, domain) => {
    const [owner] = await rowsWhere(db, instanceDomains, { domain });
    if (owner === undefined) return undefined;
    const { instanceId: id } = owner;
    const [limited] = await rowsWhere(db, instanceLimits, { id });
    return { id, isBlocked: limited?.block ?? false };
  });
  const readById = cachedRead(db, [instances], (_, id) => rowWhere(db, instances, { id }));
  return { byDomain: (domain) => read("", domain), byId: (id) => readById("", id) };
}

/** What others ask of an instance; empty where there is none. */
export function instanceFacts(db: Database) {
  const read = cachedRead(db, [instances], async (_, id) => {
    const [row] = await rowsWhere(db, instances, { id });
    return row ?? { name: "", defaultLanguage: "en", defaultOrganizationId: "", projectId: "" };
  });
  return async (id: string) => read("", id);
}

/** The domain that stands for an instance where no request says by which one it came. */
export function primaryDomainReader(db: Database) {
  const read = cachedRead(db, [instanceDomains], async (_, instanceId) => {
    const order = ["-isPrimary", "creationDate", "domain"] as const;
    const [row] = await columnsWhere(db, instanceDomains, ["domain"], { instanceId }, order);
    if (row === undefined) throw new Error("an instance has a domain");
    return row.domain;
  });
  return async (instanceId: string) => read("", instanceId);
}

/** The service's own project in an instance: tokens to it open the APIs (B5). */
export function ownProjectReader(db: Database) {
  const read = cachedRead(db, [instances], async (instanceId) => {
    const [row] = await rowsWhere(db, instances, { instanceId });
    return row?.projectId ?? "";
  });
  return (instanceId: string) => read(instanceId, "");
}

/** Whether the store holds an instance at all. */
export async function hasInstance(db: Database): Promise<boolean> {
  const t = db.table(instanceDomains);
  return (await db.read.select({ id: t.instanceId }).from(t).limit(1)).length > 0;
}

/** How far back the history of an instance may be read. */
export function retentionReader(db: Database) {
  return cachedRead(db, [instanceLimits], async (_, id) => {
    const [row] = await rowsWhere(db, instanceLimits, { id });
    return typeof row?.auditLogRetentionMs === "string"
      ? Number(row.auditLogRetentionMs)
      : undefined;
  });
}

/** An instance with what belongs to it. */
export type WholeInstance = {
  row: InstanceRow;
  domains: string[];
  limits: LimitsRow | undefined;
};

export function instanceQueries(deps: Pick<Deps, "db" | "limits" | "organizations" | "secrets">) {
  const { db } = deps;
  const { id } = db.table(instances);
  const d = db.table(instanceDomains);
  const l = db.table(instanceLimits);
  const blocked = db.read.select({ id: l.id }).from(l).where(eq(l.block, true));

  async function whole(rows: InstanceRow[]): Promise<WholeInstance[]> {
    const ids = rows.map((row) => row.id);
    const order = ["-isPrimary", "domain"] as const;
    const domains = await rowsWhere(db, instanceDomains, { instanceId: ids }, order);
    const limited = await rowsWhere(db, instanceLimits, { id: ids });
    return rows.map((row) => ({
      row,
      domains: domains.filter((one) => one.instanceId === row.id).map(({ domain }) => domain),
      limits: limited.find((one) => one.id === row.id),
    }));
  }

  const search = objectSearch(deps, instances, {
    filter: InstanceSearchFilterSchema,
    sort: InstanceFieldNameSchema,
    filters: {
      domain({ domain }) {
        const owner = db.read
          .select({ id: d.instanceId })
          .from(d)
          .where(eq(d.domain, domain.toLowerCase()));
        return inArray(id, owner);
      },
      state({ state }) {
        if (state === InstanceState.RUNNING) return sql`${id} not in ${blocked}`;
        return state === InstanceState.STOPPED ? inArray(id, blocked) : sql`1 = 0`;
      },
    },
    log: () => "system",
    everyInstance: true,
  });

  return {
    async get(instanceId: string): Promise<WholeInstance> {
      const [found] = await whole(await rowsWhere(db, instances, { instanceId }));
      if (found === undefined) throw instanceNotFound();
      return found;
    },
    async search(scope: Scope, request: SearchInstancesRequest): Promise<Found<WholeInstance>> {
      const found = await search(scope, request);
      return { ...found, rows: await whole(found.rows) };
    },
  };
}
