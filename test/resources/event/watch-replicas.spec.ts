// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { startApp } from "../../../src/app/app.ts";
import { openKernel } from "../../../src/app/kernel.ts";
import { silentLogger } from "../../../src/telemetry/logger.ts";
import { until } from "../../jobs/place.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { watch } from "./watchers.ts";
import { withinRounds } from "../../support/paced.ts";

const service = await startPeer();
const { app, post, remove } = service;
// On SQLite a second process with the same file, as commands are; on PostgreSQL another replica.
const kernel = await openKernel(app.kernel.config, { logger: silentLogger() });
const other = await startApp(kernel);
after(async () => {
  await other[Symbol.asyncDispose]();
  await kernel[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const newTarget = async () => {
  const target = { name: uniqueName("target"), rest_webhook: { url: "http://localhost:9999/x" } };
  bodyOf(await post("/targets", target), 201);
};

describe("a watcher of one process", () => {
  it("is told what others commit, each event once and in the order of the log", async () => {
    const start = BigInt(await service.eventCount());
    const watcher = await watch({ port: other.port, token: app.token });
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        for (let nth = 0; nth < 10; nth++) await newTarget();
      }),
    );
    await until(() => watcher.types().length >= 50, "all are told");
    const told = watcher.told.slice(1).map(({ sequence }) => sequence);
    assert.deepEqual(
      told,
      Array.from({ length: 50 }, (_, nth) => start + BigInt(nth) + 1n),
    );
    watcher.leave();
  });

  it("resumes with the other where they left the one", async () => {
    const first = await watch({ port: app.port, token: app.token });
    await newTarget();
    await until(() => first.types().length === 1, "the event is told");
    first.leave();
    const afterSequence = first.told.at(-1)?.sequence ?? 0n;
    await newTarget();
    const second = await watch({ port: other.port, token: app.token }, { afterSequence });
    await until(() => second.types().length === 1, "the next is told");
    assert.equal(second.told.at(-1)?.sequence, afterSequence + 1n);
    second.leave();
  });

  it("is ended within a second when their role is taken from them by another", async () => {
    const { token, userId } = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const watcher = await watch({ port: other.port, token });
    const filters = [{ in_user_ids: { ids: [userId] } }];
    const [found] = bodyOf(await post("/memberships/_search", filters)).result;
    bodyOf(await remove(`/memberships/${found.details.id}`));
    await withinRounds(
      "the stream is ended",
      { rounds: 5, pauseMs: 300 },
      () => watcher.ended !== undefined,
      () => post("/memberships/_search", filters),
    );
    assert.deepEqual(watcher.ended, { code: 7, reason: "PERMISSION_MISSING" });
  });
});
