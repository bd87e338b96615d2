import type { MakeMember } from "../authz/ports.ts";
import type { ServiceDeps } from "./deps.ts";
import { narrowModes } from "./file-modes.ts";
import type { Logger } from "pino";
import { createIdSource } from "../crypto/ids.ts";
import { createEventStore, type EventStore } from "../eventstore/eventstore.ts";
import { checkMasterKeys, type MasterKeys } from "../eventstore/master-keys.ts";
import { createSecretStore, type SecretStore } from "../eventstore/secret-store.ts";
import { jobs } from "../jobs/job.ts";
import type { Module } from "../projection/module.ts";
import { reduceWith } from "../projection/projection.ts";
import { rebuildProjections } from "../projection/rebuild.ts";
import { forgetOriginKeyLater } from "../resources/event/index.ts";
import { memberMaker } from "../resources/membership/index.ts";
import { forgetInstance, type Holding, holdingsOf } from "../resources/instance/index.ts";
import { users } from "../resources/user/index.ts";
import type { FeatureDefaults } from "../settings/feature/index.ts";
import type { MigratableDatabase } from "../storage/database.ts";
import { claims, origins, secrets as secretRows } from "../storage/kernel-tables.ts";
import type { Schema } from "../storage/schema.ts";
import type { SharedStore } from "../storage/sqlite/serving.ts";
import { watchWrites, type Writability } from "../storage/writability.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { AnyTable } from "../storage/table.ts";
import type { Config } from "./config.ts";
import { openDataDir } from "./data-dir.ts";
import { masterKeys } from "./master-key.ts";
import { modules as allModules } from "./modules.ts";
import { traceCommits, traceProjecting } from "./traced.ts";

/** The open store with everything that reads and writes it; what commands and the server share. */
export type Kernel = AsyncDisposable & {
  config: Config;
  modules: Module<ServiceDeps>[];
  featureDefaults: FeatureDefaults;
  projectionTables: AnyTable[];
  schema: Schema;
  /** Every table that holds rows of instances, but for the log and its heads. */
  holdings: Holding[];
  db: MigratableDatabase;
  writes: Writability;
  masterKeys: MasterKeys;
  secrets: SecretStore;
  events: EventStore;
  newId: () => string;
  makeMember: MakeMember;
  now: () => Date;
  logger: Logger;
  /** Absent where nothing is traced. */
  tracing: Tracing | undefined;
  /** Calls the listener with the types of the events of every unit that was committed. */
  onAppended(listener: (types: string[]) => void): void;
};

export type Surroundings = {
  logger: Logger;
  tracing?: Tracing | undefined;
  now?: () => Date;
  /** Slices beside the service's own. */
  moreModules?: Module<ServiceDeps>[];
  /** The store can be trusted again only by another process: this one must end, as by a crash. */
  onBroken?: (error: unknown) => void;
  /** Refuses an SQLite store that another process has open, and lets none open it. */
  alone?: boolean;
  /** Refuses an SQLite store that another process serves. */
  serves?: boolean;
  /** An SQLite store is served together with other processes. */
  shared?: SharedStore;
  /** How many processes of this machine serve the store, with this one; they share its connections to PostgreSQL. */
  processes?: number;
};

/** A driver is loaded only where it is used. */
async function openStore(
  config: Config,
  schema: Schema,
  { onBroken = () => {}, alone = false, serves = false, shared, processes = 1 }: Surroundings,
): Promise<MigratableDatabase> {
  const at = config.databaseUrl;
  if (at.kind === "sqlite") {
    const { openSqlite } = await import("../storage/sqlite/driver.ts");
    const sharing = shared === undefined ? {} : { shared };
    return openSqlite({ path: at.file, schema, onBroken, alone, serves, ...sharing });
  }
  const { openPostgres } = await import("../storage/postgres/driver.ts");
  return openPostgres({ url: at.url, schema, processes });
}

/** The tables that these slices keep, and those of the jobs. */
export const schemaOf = (modules: readonly Module<ServiceDeps>[]): Schema => ({
  state: [jobs, ...modules.flatMap((module) => module.state ?? [])],
  projections: modules.flatMap((module) => module.projections).flatMap(({ tables }) => tables),
});

/**
 * Opens the store of the configuration and brings it to this build's schema; projections of another shape are rebuilt
 * from the log before anybody reads them.
 */
export async function openKernel(config: Config, around: Surroundings): Promise<Kernel> {
  const { logger, tracing, now = () => new Date(), moreModules = [] } = around;
  openDataDir(config);
  narrowModes(
    config.dataDir,
    config.databaseUrl.kind === "sqlite" ? config.databaseUrl.file : undefined,
    logger,
  );
  const featureDefaults = featureDefaultsOf(config);
  const modules = [...allModules(featureDefaults), ...moreModules];
  const schema = schemaOf(modules);
  const { holdings, projections } = holdingsAndProjections(modules, schema);
  const eventSets = modules.flatMap((module) => module.events);
  const listeners: ((types: string[]) => void)[] = [];
  const store = await openStore(config, schema, around);
  const { store: db, writes } = watchWrites(tracing === undefined ? store : traceCommits(store));
  try {
    if (around.onBroken !== undefined) await db.inspect();
    // Nobody with a wrong key changes anything, not even the schema (F21).
    const isNewStore = await db.isNew();
    const masters = masterKeys(config, isNewStore);
    if (!isNewStore) await checkMasterKeys(db, masters);
    const stale = await db.migrate();
    const secrets = createSecretStore(db, masters);
    const events = createEventStore({
      db,
      secrets,
      catalog: {
        events: eventSets,
        reduce: reduceWith(projections),
        claimErrors: new Map(
          modules.flatMap(({ claimErrors }) => Object.entries(claimErrors ?? {})),
        ),
      },
      now,
      people: users,
      forgetLater: forgetOriginKeyLater,
      ...(tracing === undefined ? {} : { projecting: traceProjecting }),
      onAppended: (types) => listeners.forEach((listen) => listen(types)),
    });
    const newId = createIdSource(() => now().getTime());
    for (const module of modules) {
      module.reactions?.({ db, events, secrets, newId }).forEach(events.rules.addReaction);
      module.invariants?.({ db }).forEach(events.rules.addInvariant);
    }
    if (stale.length > 0) {
      logger.info({ tables: stale.map(({ name }) => name) }, "rebuilding projections");
      await rebuildProjections({ db, events }, stale);
    }
    return {
      config,
      modules,
      featureDefaults,
      projectionTables: schema.projections,
      schema,
      holdings: [...holdings, { table: claims, column: "scope" }],
      db,
      writes,
      masterKeys: masters,
      secrets,
      events,
      newId,
      makeMember: memberMaker(newId),
      now,
      logger,
      tracing,
      onAppended: (listener) => void listeners.push(listener),
      async [Symbol.asyncDispose]() {
        await writes[Symbol.asyncDispose]();
        await db[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await db[Symbol.asyncDispose]();
    throw error;
  }
}

const featureDefaultsOf = (config: Config): FeatureDefaults => ({
  multitenancy_resources_api: config.featureMultitenancyResourcesApi,
  multitenancy_settings: config.featureMultitenancySettings,
  oidc_token_exchange: config.featureOidcTokenExchange,
});

/** What is kept of instances, by table; and the projections of all slices with the one that forgets an instance. */
function holdingsAndProjections(
  modules: readonly Module<ServiceDeps>[],
  { state, projections: tables }: Schema,
) {
  const holdings = holdingsOf([...tables, ...state, secretRows, origins]);
  const projected = new Set(tables);
  const ofInstances = holdings.map(({ table }) => table).filter((table) => projected.has(table));
  const ofSlices = modules.flatMap((module) => module.projections);
  return { holdings, projections: [...ofSlices, forgetInstance(ofInstances)] };
}
