import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bootstrap } from "../../src/app/bootstrap.ts";
import type { Bootstrap } from "../../src/app/bootstrap-file.ts";
import { loadConfig } from "../../src/app/config.ts";
import { type Kernel, openKernel } from "../../src/app/kernel.ts";
import type { TargetConfig } from "../../src/resources/action/target/target.ts";
import { signingKeyRef } from "../../src/resources/action/target/signing-key.ts";
import { targets } from "../../src/resources/action/target/target.ts";
import { newSigningKey } from "../../src/resources/object/new-secret.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import manifest from "../../package.json" with { type: "json" };
import { atExit, type Child, spawnServer, freePort, untilOk } from "./process.ts";

export const root = resolve(import.meta.dirname, "../..");
/** Flags of Node, as `npm start` gives them. */
const startFlags = manifest.scripts.start.match(/--\S+/g) ?? [];
/** For a look inside: flags of Node for the service, as `--cpu-prof --cpu-prof-dir=profiles`. */
export const nodeFlags = (process.env["BENCH_NODE_FLAGS"] ?? "").split(" ").filter(Boolean);
export const externalUrl = "http://localhost:8080";
const targetsPerUnit = 1_000;

/** A store in a folder of its own, with the first instance in it. */
export type Store = Disposable & {
  dir: string;
  file: string;
  env?: Record<string, string>;
  made: Bootstrap;
  token: string;
};

const removals = new Map<string, () => void>();

export function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "idsvc-bench-"));
  removals.set(
    dir,
    atExit(() => rmSync(dir, { recursive: true, force: true })),
  );
  return dir;
}

/** @param env says where the database is, where it is not a file in the folder */
export async function newStore(count = 0, env: Record<string, string> = {}): Promise<Store> {
  const dir = newFolder();
  await withKernel({ dir, env }, async (kernel) => {
    const made = await bootstrap(kernel);
    if (made === undefined) throw new Error("a new store is empty");
    await seed(kernel, made.instance_id, count);
  });
  return { ...storeIn(dir), env };
}

export function storeIn(dir: string): Store {
  const made = JSON.parse(readFileSync(join(dir, "bootstrap.json"), "utf8")) as Bootstrap;
  return {
    dir,
    file: join(dir, "idsvc.db"),
    made,
    token: made.machine.token,
    [Symbol.dispose]() {
      rmSync(dir, { recursive: true, force: true });
      removals.get(dir)?.();
    },
  };
}

export const sizeMiB = ({ file }: Store): number => statSync(file).size / 2 ** 20;

export async function withKernel<T>(
  { dir, env }: Pick<Store, "dir" | "env">,
  work: (kernel: Kernel) => Promise<T>,
): Promise<T> {
  const all = { IDSVC_DATA_DIR: dir, IDSVC_EXTERNAL_URL: externalUrl, ...env };
  const config = loadConfig({ files: [], flags: {}, env: all });
  await using kernel = await openKernel(config, { logger: silentLogger() });
  return await work(kernel);
}

export const targetConfig = (name: string): TargetConfig => ({
  kind: "rest_webhook",
  url: "https://hooks.example.com/audit",
  isAsync: false,
  interruptOnError: true,
  payloadSecrets: false,
  name,
  timeoutMs: 10_000,
});

export const writer = (instanceId: string) => ({
  instanceId,
  editorId: "bench",
  service: "bench",
  clientId: "",
  requestId: "bench",
});

/** Adds targets by the service's own event store, many a unit. */
export async function seed(kernel: Kernel, instanceId: string, count: number): Promise<void> {
  const { events, secrets, newId } = kernel;
  const owner = { type: "instance" as const, id: instanceId };
  for (let from = 0; from < count; from += targetsPerUnit) {
    await events.transact(writer(instanceId), async (tx) => {
      for (let at = from; at < Math.min(count, from + targetsPerUnit); at++) {
        const loaded = await tx.load(targets.aggregate, newId());
        const named = targetConfig(`seeded ${String(at).padStart(8, "0")}`);
        tx.record(targets.aggregate, loaded, targets.add(loaded.state, named), owner);
        await newSigningKey(tx, secrets, signingKeyRef(instanceId, loaded.id));
      }
    });
  }
}

/** Starts the complete service as it is started in production; its log lines (level info) go to the null device. */
export async function startService(
  dir: string,
  options: {
    /** Where browsers meet it: its own address. */
    asItself?: boolean;
    env?: Record<string, string>;
  } = {},
): Promise<{ child: Child; readyMs: number }> {
  const port = await freePort();
  const env = {
    IDSVC_DATA_DIR: dir,
    IDSVC_PORT: String(port),
    IDSVC_EXTERNAL_URL: options.asItself === true ? `http://localhost:${port}` : externalUrl,
    ...options.env,
  };
  const args = [...startFlags, ...nodeFlags, join(root, "src/main.js"), "serve"];
  const since = performance.now();
  const child = spawnServer(args, env, port);
  return { child, readyMs: await untilOk(child, "/readyz", since) };
}
