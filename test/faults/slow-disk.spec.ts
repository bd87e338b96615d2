// Run: alone, long
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { check } from "./checker.ts";
import { flushesIn, watchedBy } from "./flush-watch.ts";
import { freePort } from "../support/free-port.ts";
import { type Place, type Running, startServer } from "./server.ts";
import { createWriters } from "./writers.ts";

const token = "token-of-the-fault-tests";
const takesMs = 200;

describe("a disk that takes 200 ms to flush", () => {
  let place: Place;
  let server: Running;
  let flushes: string;
  const dataDir = mkdtempSync(join(tmpdir(), "idsvc-slow-"));
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  before(async () => {
    flushes = join(dataDir, "flushes");
    const { imports, env } = watchedBy(flushes, { takesMs });
    place = {
      dataDir,
      port: await freePort(),
      imports,
      env: { IDSVC_BOOTSTRAP_TOKEN: token, ...env },
    };
    server = await startServer(place);
  });

  it("holds up those who write, and nobody who reads", async () => {
    const send = (method: string, path: string, body?: object) =>
      fetch(`${server.url}/resources/v3alpha/targets${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const create = async (name: string) => {
      const answer = await send("POST", "", {
        name,
        rest_webhook: { url: "https://example.com/" },
      });
      const { details } = (await answer.json()) as { details?: { id: string } };
      assert.equal(answer.status, 201);
      return details?.id ?? "";
    };
    const id = await create("the first");
    // Until it is known that the disk is slow, and the thread that writes has been started.
    for (let nth = 0; nth < 8; nth++) await create(`before ${nth}`);
    let isWritten = false;
    const write = async () => {
      await Promise.all([create("the second"), create("the third")]);
      isWritten = true;
    };
    const writing = write();
    let [reads, pages] = [0, 0];
    while (!isWritten) {
      const [read, page] = await Promise.all([
        send("GET", `/${id}`),
        fetch(`${server.url}/.well-known/openid-configuration`),
      ]);
      assert.deepEqual([read.status, page.status], [200, 200]);
      await Promise.all([read.arrayBuffer(), page.arrayBuffer()]);
      if (isWritten) break;
      reads += 1;
      pages += 1;
    }
    await writing;
    // A loop that waits for the flush answers one of each while it collects the writes, and the others after them.
    assert.ok(reads >= 5 && pages >= 5, `${reads} reads were answered before the writes`);
  });

  it("takes nothing from what was acknowledged, for later reads and after a kill", async () => {
    const writers = createWriters(8, token);
    await using running = writers.run(server.url);
    await writers.answered();
    await delay(4_000);
    await server.kill();
    await running.stop();
    assert.ok(writers.log.some(({ outcome }) => outcome === "acknowledged"));
    assert.deepEqual(flushesIn(flushes).violations, []);
    await using again = await startServer(place);
    assert.deepEqual(await check(place, writers.log), []);
    assert.equal(await again.stop(), 0);
  });
});
