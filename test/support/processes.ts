import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, startApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/app/config.ts";
import { type Kernel, openKernel } from "../../src/app/kernel.ts";
import { newProcessName } from "../../src/storage/process-name.ts";
import { serveWriter } from "../../src/storage/sqlite/shared-writer.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { engine, storeEnv, type TestOptions } from "./app.ts";
import { freshDatabase } from "./postgres.ts";

/** One more of those that serve a store. */
export type Another = AsyncDisposable & { kernel: Kernel; app: App; port: number };

/**
 * A store that several processes are to serve, which are all in this one: on PostgreSQL each is what a replica is, on SQLite
 * another one writes for them (IDSVC_PROCESSES).
 *
 * @param on the engine; that of the run without
 */
export async function storeOfMany(on: typeof engine = engine) {
  const dataDir = mkdtempSync(join(tmpdir(), "idsvc-many-"));
  const [file, socket] = [join(dataDir, "idsvc.db"), join(dataDir, "writer")];
  const database = on === "postgres" && on !== engine ? await freshDatabase() : undefined;
  const at = on === engine ? {} : { IDSVC_DATABASE_URL: database?.url ?? `sqlite:${file}` };
  const writer =
    on === "sqlite"
      ? await serveWriter({ path: file, socket }, (error) => {
          throw error;
        })
      : undefined;
  const shared = () =>
    writer && { shared: { socket, processName: newProcessName(), endedOf: async () => [] } };

  return {
    /** What says where it is, for the environment of the first. */
    env: at,
    /** What the first of them is started with (`startTestApp`). */
    first: (): Pick<TestOptions, "dataDir" | "shared"> => ({ dataDir, ...shared() }),

    /** The store as one more of them opens it, once the first has made it. */
    async open({ env = {}, now, moreModules = [] }: TestOptions = {}): Promise<Kernel> {
      const config = loadConfig({
        files: [],
        flags: {},
        env: {
          IDSVC_DATA_DIR: dataDir,
          IDSVC_PORT: "0",
          IDSVC_EXTERNAL_URL: "http://localhost:8080",
          ...(await storeEnv(dataDir)),
          ...at,
          ...env,
        },
      });
      return openKernel(config, {
        logger: silentLogger(),
        serves: true,
        moreModules,
        ...(now === undefined ? {} : { now }),
        ...shared(),
      });
    },

    async start(options: TestOptions = {}): Promise<Another> {
      const kernel = await this.open(options);
      const app = await startApp(kernel, options);
      return {
        kernel,
        app,
        port: app.port,
        async [Symbol.asyncDispose]() {
          await app[Symbol.asyncDispose]();
          await kernel[Symbol.asyncDispose]();
        },
      };
    },

    /** Once all of them have ended. */
    async [Symbol.asyncDispose]() {
      await writer?.[Symbol.asyncDispose]();
      await database?.[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
