// Run: shared, store
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startApp } from "../../src/app/app.ts";
import { bootstrap } from "../../src/app/bootstrap.ts";
import type { Bootstrap } from "../../src/app/bootstrap-file.ts";
import { loadConfig } from "../../src/app/config.ts";
import { examine } from "../../src/app/examine.ts";
import { type Kernel, openKernel } from "../../src/app/kernel.ts";
import { webKeysOf } from "../../src/resources/webkey/index.ts";
import { keyStore } from "../../src/oidc/store/keys.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { storeEnv } from "../support/app.ts";
import { bodyOf } from "../support/peer.ts";
import { connectPeer, type Peer } from "../support/protocols.ts";
import { systemCaller } from "../support/system-caller.ts";

const operator = systemCaller();
const local = "http://localhost:8080";
const outside = "https://id.example.test";

/** One process that has started on the store; disposing ends it. */
type Started = AsyncDisposable & { kernel: Kernel; peer: Peer; made: Bootstrap | undefined };

/** One store, and processes that start on it at one address after the other. */
async function store() {
  const dataDir = mkdtempSync(join(tmpdir(), "idsvc-address-"));
  const env = { IDSVC_DATA_DIR: dataDir, IDSVC_PORT: "0", ...(await storeEnv(dataDir)) };
  const log: string[] = [];
  const open = async (url: string): Promise<Kernel> => {
    const given = { ...env, ...operator.env, IDSVC_EXTERNAL_URL: url };
    const config = loadConfig({ files: [], flags: {}, env: given });
    return openKernel(config, {
      logger: createLogger("info", { write: (line) => void log.push(line) }),
    });
  };
  const start = async (url: string): Promise<Started> => {
    const kernel = await open(url);
    const made = await bootstrap(kernel);
    const app = await startApp(kernel);
    const peer = connectPeer(app.port);
    return {
      kernel,
      peer,
      made,
      async [Symbol.asyncDispose]() {
        peer[Symbol.dispose]();
        await app[Symbol.asyncDispose]();
        await kernel[Symbol.asyncDispose]();
      },
    };
  };
  const concernsAt = async (url: string) => {
    await using kernel = await open(url);
    const { concerns } = await examine(kernel);
    return concerns.filter(({ name }) => name.startsWith("external_url"));
  };
  return { log, start, concernsAt, [Symbol.dispose]: () => rmSync(dataDir, { recursive: true }) };
}

/** A store whose first start was at `local`, as a developer's is. */
async function madeLocally() {
  const at = await store();
  await using first = await at.start(local);
  assert.ok(first.made);
  return { ...at, made: first.made };
}

const statusAt = async ({ peer }: Started, host: string, token: string) =>
  (await peer.rest("POST", "/resources/v3alpha/users/_search", [], { host, token })).status;

async function domainsOf({ peer }: Started, host: string, token: string) {
  const path = "/resources/v3alpha/domains/_search";
  const { result } = bodyOf(await peer.rest("POST", path, [], { host, token }));
  const own = result.filter(
    (each: { details: { resource_owner: { type: string } } }) =>
      each.details.resource_owner.type === "OWNER_TYPE_INSTANCE",
  );
  const rows: { domain: { name: string; is_primary?: boolean } }[] = own;
  const names = rows.map(({ domain }) => domain.name).sort();
  return { names, primary: rows.find(({ domain }) => domain.is_primary)?.domain.name };
}

const setPrimary = async ({ peer }: Started, host: string, token: string, domain: string) => {
  const wanted = { name: domain };
  const base = "/resources/v3alpha/domains";
  const { details } = bodyOf(await peer.rest("POST", base, wanted, { host, token }), 201);
  bodyOf(await peer.rest("POST", `${base}/${details.id}/_set_as_primary`, {}, { host, token }));
};

describe("an external URL that was changed after the first start (B1)", () => {
  it("is served: its host is a domain of the first instance, beside those it had, and the primary one", async () => {
    using at = await madeLocally();
    const { token } = at.made.machine;
    await using moved = await at.start(outside);
    assert.equal(moved.made, undefined);
    const names = ["127.0.0.1", "[::1]", "id.example.test", "localhost"];
    assert.deepEqual(await domainsOf(moved, "id.example.test", token), {
      names,
      primary: "id.example.test",
    });
    assert.equal(await statusAt(moved, "localhost:8080", token), 200);
    assert.equal(await statusAt(moved, "other.example.test", token), 404);
    const found = await moved.peer.rest("GET", "/.well-known/openid-configuration", undefined, {
      host: "id.example.test",
    });
    assert.equal(bodyOf(found).issuer, outside);
    const called = { instanceId: at.made.instance_id, issuer: outside, requestId: "" };
    const { isIssuer } = keyStore({ ...moved.kernel, webKeys: webKeysOf(moved.kernel) });
    const issuers = [outside, local, "http://other.example.test", "localhost", ""];
    const known: boolean[] = [];
    for (const issuer of issuers) known.push(await isIssuer(called, issuer));
    assert.deepEqual(known, [true, true, false, false, false]);
    const told = at.log.filter((line) => line.includes('"domain":"id.example.test"'));
    assert.equal(told.length, 1);
  });

  it("changes nothing at a start that finds all as it is to be", async () => {
    using at = await madeLocally();
    const heads = async (url: string) => {
      await using started = await at.start(url);
      return [...(await started.kernel.db.heads()).values()];
    };
    const moved = await heads(outside);
    assert.deepEqual(await heads(outside), moved);
  });

  it("leads back again: the primary domain is the one of the URL, as long as nobody has chosen another", async () => {
    using at = await madeLocally();
    const { token } = at.made.machine;
    {
      await using _ = await at.start(outside);
    }
    {
      await using back = await at.start(local);
      assert.equal((await domainsOf(back, "localhost", token)).primary, "localhost");
      await setPrimary(back, "localhost", token, "brand.example.test");
    }
    await using again = await at.start("https://new.example.test");
    const { names, primary } = await domainsOf(again, "new.example.test", token);
    assert.equal(primary, "brand.example.test");
    assert.ok(names.includes("new.example.test"));
  });

  it("takes no domain from another instance, and gives none to one that a customer has", async () => {
    using at = await madeLocally();
    const { token } = at.made.machine;
    const domain = "tenant.example.test";
    const owner = { machine: { username: "ops", name: "Operations" } };
    const tenant = { name: "Tenant", domain, organization: { name: "T" }, ...owner };
    const instancesPath = "/resources/v3alpha/instances";
    const asOperator = async (url: string) => ({
      host: new URL(url).host,
      token: await operator.tokenFor(url),
    });
    let tenantToken = "";
    {
      await using first = await at.start(local);
      const made = await first.peer.rest("POST", instancesPath, tenant, await asOperator(local));
      tenantToken = String(bodyOf(made, 201).personal_access_token);
    }
    {
      const url = `https://${domain}`;
      await using second = await at.start(url);
      assert.equal(await statusAt(second, domain, tenantToken), 200);
      assert.equal(await statusAt(second, domain, token), 401);
      assert.deepEqual(
        (await at.concernsAt(url)).map(({ name }) => name),
        ["external_url_elsewhere"],
      );
    }
    {
      await using first = await at.start(local);
      const path = `${instancesPath}/${at.made.instance_id}`;
      bodyOf(await first.peer.rest("DELETE", path, undefined, await asOperator(local)));
    }
    {
      await using last = await at.start(outside);
      assert.equal(await statusAt(last, "id.example.test", tenantToken), 404);
      assert.equal(await statusAt(last, domain, tenantToken), 200);
    }
    assert.deepEqual(
      (await at.concernsAt(outside)).map(({ name, some }) => [name, some]),
      [["external_url_nowhere", ["id.example.test"]]],
    );
    assert.ok(at.log.some((line) => line.includes("no instance is served there")));
  });

  it("is told by the doctor before the next start, and not after it", async () => {
    using at = await madeLocally();
    assert.deepEqual(await at.concernsAt(local), []);
    const [concern] = await at.concernsAt(outside);
    assert.equal(concern?.name, "external_url_new");
    assert.deepEqual(concern.some, ["id.example.test"]);
    assert.match(concern.text, /the next start/);
    {
      await using _ = await at.start(outside);
    }
    assert.deepEqual(await at.concernsAt(outside), []);
  });

  it("leaves two replicas that start at once one domain and no error", async () => {
    using at = await madeLocally();
    await using one = await at.start(local);
    const kernels = [one.kernel, one.kernel].map((kernel) => ({
      ...kernel,
      config: { ...kernel.config, externalUrl: outside },
    }));
    assert.deepEqual(await Promise.all(kernels.map((kernel) => bootstrap(kernel))), [
      undefined,
      undefined,
    ]);
    const { names } = await domainsOf(one, "localhost", at.made.machine.token);
    assert.equal(names.filter((name) => name === "id.example.test").length, 1);
  });
});
