import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, startApp } from "../../src/app/app.ts";
import { type Bootstrap, bootstrap } from "../../src/app/bootstrap.ts";
import { loadConfig } from "../../src/app/config.ts";
import { type Kernel, openKernel } from "../../src/app/kernel.ts";
import type { Module } from "../../src/projection/module.ts";
import { addInstanceMember, membership } from "../../src/resources/membership/index.ts";
import {
  addMachine,
  addPersonalAccessToken,
  personalAccessTokenSecret,
  user,
} from "../../src/resources/user/index.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";

/** The whole service on a free port, with an SQLite store of its own, in this process. */
export type TestApp = AsyncDisposable & {
  url: string;
  port: number;
  kernel: Kernel;
  app: App;
  made: Bootstrap;
  /** Of the machine user that the first start made: an IAM_OWNER. */
  token: string;
};

export type TestOptions = {
  env?: Record<string, string>;
  now?: () => Date;
  dataDir?: string;
  moreModules?: Module[];
};

export async function startTestApp(options: TestOptions = {}): Promise<TestApp> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "idsvc-test-"));
  const config = loadConfig({
    files: [],
    flags: {},
    env: {
      IDSVC_DATA_DIR: dataDir,
      IDSVC_PORT: "0",
      IDSVC_EXTERNAL_URL: "http://localhost:8080",
      ...options.env,
    },
  });
  const clock = options.now === undefined ? {} : { now: options.now };
  const { moreModules = [] } = options;
  const kernel = await openKernel(config, { logger: silentLogger(), moreModules, ...clock });
  const made = await bootstrap(kernel);
  if (made === undefined) throw new Error("the store of a test is empty at first");
  const app = await startApp(kernel);
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
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

let names = 0;

/** Adds a machine user with a token and these roles on the instance; no role at all is a caller who may do nothing. */
export async function addCaller(
  { kernel, made }: Pick<TestApp, "kernel" | "made">,
  roles: string[],
): Promise<{ userId: string; token: string }> {
  const { events, secrets, newId } = kernel;
  const userId = newId();
  const organizationId = made.organization_id;
  const by = {
    instanceId: made.instance_id,
    editorId: "test",
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
      addMachine(loaded.state, { organizationId, username, name: username }),
      owner,
    );
    const tokenId = newId();
    const state = { type: "machine" as const, organizationId, username };
    tx.record(user, loaded, addPersonalAccessToken(state, tokenId));
    const at = { instanceId: made.instance_id, userId };
    const secret = await personalAccessTokenSecret(secrets, at, { id: tokenId, createdAt: tx.now });
    tx.write(secret.change);
    if (roles.length > 0) {
      const member = await tx.load(membership, newId());
      const ofInstance = { type: "instance" as const, id: made.instance_id };
      tx.record(membership, member, addInstanceMember(member.state, { userId, roles }), ofInstance);
    }
    return secret.token;
  });
  return { userId, token };
}
