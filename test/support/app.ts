import type { ServiceDeps } from "../../src/app/deps.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, startApp } from "../../src/app/app.ts";
import { bootstrap } from "../../src/app/bootstrap.ts";
import type { Bootstrap } from "../../src/app/bootstrap-file.ts";
import { loadConfig } from "../../src/app/config.ts";
import { type Kernel, openKernel, schemaOf } from "../../src/app/kernel.ts";
import { modules } from "../../src/app/modules.ts";
import type { SharedStore } from "../../src/app/shared-store.ts";
import type { NameResolver } from "../../src/egress/resolver.ts";
import type { Module } from "../../src/projection/module.ts";
import { addMember, membership } from "../../src/resources/membership/membership.ts";
import {
  addUser,
  builtInData,
  addPersonalAccessToken,
  personalAccessTokenSecret,
  user,
} from "../../src/resources/user/index.ts";
import type { Schema } from "../../src/storage/schema.ts";
import { copyTables } from "./sqlite-template.ts";
import { databaseOf, freshDatabase, type TestDatabase } from "./postgres.ts";
import type { Tracing } from "../../src/telemetry/tracing.ts";
import { createLogger, logLevels, silentLogger } from "../../src/telemetry/logger.ts";

/** The whole service on a free port, with a store of its own, in this process; on the engine that the run is for. */
export type TestApp = AsyncDisposable & {
  url: string;
  port: number;
  kernel: Kernel;
  app: App;
  made: Bootstrap;
  /** Of the machine user that the first start made: an IAM_OWNER. */
  token: string;
};

const metricsToken = "a-token-for-the-metrics-of-tests";
/** For whoever reads `/metrics` whole. */
export const metricsHeaders = { authorization: `Bearer ${metricsToken}` };

export type TestOptions = {
  env?: Record<string, string>;
  now?: () => Date;
  dataDir?: string;
  /** The store is served together with others (`storeOfMany`). */
  shared?: SharedStore;
  withoutMetricsToken?: true;
  moreModules?: Module<ServiceDeps>[];
  /** What names lead to, in the place of the DNS. */
  resolver?: NameResolver;
  tracing?: Tracing;
  /** Where the lines of the log go, at level debug. */
  log?: (line: string) => void;
};

/** Which engine the run is for: `IDSVC_TEST_ENGINE`, or the embedded one. */
export const engine = process.env["IDSVC_TEST_ENGINE"] === "postgres" ? "postgres" : "sqlite";

const loggerOf = ({ log }: TestOptions) =>
  log === undefined ? testLogger() : createLogger("debug", { write: log });

/** Says nothing, unless `IDSVC_TEST_LOG` names a level: then failures inside the service can be seen. */
const testLogger = () => {
  const level = logLevels.find((each) => each === process.env["IDSVC_TEST_LOG"]);
  return level === undefined ? silentLogger() : createLogger(level);
};

// The store of a data folder, for tests that start again where they stopped.
const databases = new Map<string, Promise<TestDatabase>>();

/** What the configuration says of the store that belongs to a data folder. */
export async function storeEnv(
  dataDir: string,
  make = freshDatabase,
): Promise<Record<string, string>> {
  if (engine === "sqlite") return {};
  let database = databases.get(dataDir);
  if (database === undefined) databases.set(dataDir, (database = make()));
  return { IDSVC_DATABASE_URL: (await database).url };
}

/** Whether a feature is on changes no table. */
const features = {
  multitenancy_resources_api: true,
  multitenancy_settings: true,
  oidc_token_exchange: true,
};
let schema: Schema | undefined;
const schemaOfAll = (): Schema => (schema ??= schemaOf(modules(features)));
const migrated = (): Promise<TestDatabase> => databaseOf(schemaOfAll());

async function dropStore(dataDir: string): Promise<void> {
  await (await databases.get(dataDir))?.[Symbol.asyncDispose]();
  databases.delete(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
}

export async function startTestApp(options: TestOptions = {}): Promise<TestApp> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "idsvc-test-"));
  const config = loadConfig({
    files: [],
    flags: {},
    env: {
      IDSVC_DATA_DIR: dataDir,
      IDSVC_PORT: "0",
      IDSVC_EXTERNAL_URL: "http://localhost:8080",
      ...(options.withoutMetricsToken ? {} : { IDSVC_METRICS_TOKEN: metricsToken }),
      ...(await storeEnv(dataDir, migrated)),
      ...options.env,
    },
  });
  const { databaseUrl: store } = config;
  if (store.kind === "sqlite") await copyTables(store.file, schemaOfAll());
  const clock = options.now === undefined ? {} : { now: options.now };
  const { moreModules = [], shared, tracing } = options;
  const kernel = await openKernel(config, {
    logger: loggerOf(options),
    moreModules,
    tracing,
    ...clock,
    ...(shared === undefined ? {} : { shared, serves: true }),
  });
  const { made, app } = await start(kernel, options).catch(async (error: unknown) => {
    await kernel[Symbol.asyncDispose]();
    throw error;
  });
  return {
    url: `http://localhost:${app.port}`,
    port: app.port,
    kernel,
    app,
    made,
    token: made.machine.token,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await kernel[Symbol.asyncDispose]();
      if (options.dataDir === undefined) await dropStore(dataDir);
    },
  };
}

async function start(kernel: Kernel, options: TestOptions): Promise<{ made: Bootstrap; app: App }> {
  const made = await bootstrap(kernel);
  if (made === undefined) throw new Error("the store of a test is empty at first");
  return { made, app: await startApp(kernel, options) };
}

let names = 0;

/**
 * Adds a machine user with a token and these roles on the instance; no role at all is a caller who may do nothing. They
 * belong to the default organization unless told otherwise.
 */
export async function addCaller(
  { kernel, made }: Pick<TestApp, "kernel" | "made">,
  roles: string[],
  organizationId = made.organization_id,
): Promise<{ userId: string; token: string }> {
  const { events, secrets, newId } = kernel;
  const userId = newId();
  const by = {
    instanceId: made.instance_id,
    // The service itself: what it makes stays when the caller comes to power.
    editorId: "system:test",
    service: "test",
    clientId: "",
    requestId: "test",
  };
  const username = `caller-${names++}`;
  const token = await events.transact(by, async (tx) => {
    const loaded = await tx.load(user, userId);
    const owner = { type: "org" as const, id: organizationId };
    tx.record(
      user,
      loaded,
      addUser(loaded, {
        ...builtInData("machine", { name: username }),
        organizationId,
        username,
      }),
      owner,
    );
    const tokenId = newId();
    tx.record(user, loaded, addPersonalAccessToken(loaded.state, tokenId));
    const at = { instanceId: made.instance_id, userId };
    const secret = await personalAccessTokenSecret(secrets, at, { id: tokenId, createdAt: tx.now });
    tx.write(secret.change);
    if (roles.length > 0) {
      const member = await tx.load(membership, newId());
      const context = { type: "instance" as const };
      const ofInstance = { type: "instance" as const, id: made.instance_id };
      tx.record(
        membership,
        member,
        addMember(member.state, { userId, roles, context }),
        ofInstance,
      );
    }
    return secret.token;
  });
  return { userId, token };
}
