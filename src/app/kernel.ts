import { mkdirSync } from "node:fs";
import type { Logger } from "pino";
import { createIdSource } from "../crypto/ids.ts";
import { failedPrecondition } from "../errors.ts";
import { createEventStore, type EventStore } from "../eventstore/eventstore.ts";
import { createSecretStore, type SecretStore } from "../eventstore/secret-store.ts";
import type { Module } from "../projection/module.ts";
import { reduceWith } from "../projection/projection.ts";
import { rebuildProjections } from "../projection/rebuild.ts";
import type { FeatureDefaults } from "../settings/feature/index.ts";
import type { MigratableDatabase } from "../storage/database.ts";
import { openSqlite } from "../storage/sqlite/driver.ts";
import type { AnyTable } from "../storage/table.ts";
import type { Config } from "./config.ts";
import { masterKey } from "./master-key.ts";
import { modules as allModules } from "./modules.ts";

/** The open store with everything that reads and writes it; what commands and the server share. */
export type Kernel = AsyncDisposable & {
  config: Config;
  modules: Module[];
  featureDefaults: FeatureDefaults;
  projectionTables: AnyTable[];
  db: MigratableDatabase;
  secrets: SecretStore;
  events: EventStore;
  newId: () => string;
  now: () => Date;
  logger: Logger;
  /** Calls the listener with the types of the events of every unit that was committed. */
  onAppended(listener: (types: string[]) => void): void;
};

export type Surroundings = {
  logger: Logger;
  now?: () => Date;
  /** Slices beside the service's own. */
  moreModules?: Module[];
};

/**
 * Opens the store of the configuration and brings it to this build's schema; projections of another shape are rebuilt
 * from the log before anybody reads them.
 */
export async function openKernel(config: Config, around: Surroundings): Promise<Kernel> {
  const { logger, now = () => new Date(), moreModules = [] } = around;
  if (config.databaseUrl.kind !== "sqlite") {
    throw failedPrecondition(
      "STORE_UNSUPPORTED",
      "this build stores in SQLite: set IDSVC_DATABASE_URL to the path of a file",
    );
  }
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const featureDefaults: FeatureDefaults = {
    multitenancy_resources_api: config.featureMultitenancyResourcesApi,
    multitenancy_settings: config.featureMultitenancySettings,
    oidc_token_exchange: config.featureOidcTokenExchange,
  };
  const modules = [...allModules(featureDefaults), ...moreModules];
  const projections = modules.flatMap((module) => module.projections);
  const projectionTables = projections.flatMap(({ tables }) => tables);
  const state = modules.flatMap((module) => module.state ?? []);
  const eventSets = modules.flatMap((module) => module.events);
  const listeners: ((types: string[]) => void)[] = [];
  const db = openSqlite({
    path: config.databaseUrl.file,
    schema: { state, projections: projectionTables },
  });
  try {
    const stale = await db.migrate();
    const isNewStore = (await db.heads()).size === 0;
    const secrets = createSecretStore(db, masterKey(config, isNewStore));
    await secrets.checkMasterKey();
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
      onAppended: (types) => listeners.forEach((listen) => listen(types)),
    });
    if (stale.length > 0) {
      logger.info({ tables: stale.map(({ name }) => name) }, "rebuilding projections");
      await rebuildProjections({ db, events }, stale);
    }
    const newId = createIdSource(() => now().getTime());
    return {
      config,
      modules,
      featureDefaults,
      projectionTables,
      db,
      secrets,
      events,
      newId,
      now,
      logger,
      onAppended: (listener) => void listeners.push(listener),
      [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
    };
  } catch (error) {
    await db[Symbol.asyncDispose]();
    throw error;
  }
}
