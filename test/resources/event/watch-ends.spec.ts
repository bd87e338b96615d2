// Run: shared, store
import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { after, describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../jobs/place.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { withinRounds } from "../../support/paced.ts";
import { systemCaller } from "../../support/system-caller.ts";
import { readerOf } from "./reader.ts";
import { protocols, type Watcher, watch } from "./watchers.ts";

const operator = systemCaller();
const service = await startPeer({ env: operator.env });
const { app, peer, get, post, patch, put, remove, addOrganization } = service;
const { port, kernel } = app;
after(() => service[Symbol.asyncDispose]());

const target = () => ({
  name: uniqueName("target"),
  rest_webhook: { url: "http://localhost:9999/x" },
});
const newTarget = async () => String(bodyOf(await post("/targets", target()), 201).details.id);
const asSystem = async (path: string, body: { [name: string]: string | boolean }) => {
  const token = await operator.tokenFor(app.made.issuer);
  bodyOf(await peer.rest("POST", `/resources/v3alpha${path}`, body, { token }));
};

/** Their checks are made anew twice a second: waits for so long, beside calls that are as much work. */
const endOf = (watcher: Watcher, rounds = 4): Promise<void> =>
  withinRounds(
    "the stream is ended",
    { rounds, pauseMs: 300 },
    () => watcher.ended !== undefined,
    () => get("/organizations/_none"),
  );

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
/** What the process holds once its garbage is gone. */
function memory(): number {
  collectGarbage();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

for (const [name, open] of protocols) {
  describe(`a watcher over ${name}`, () => {
    it("is ended within a second when their role is taken from them, and told nothing more", async () => {
      const { token, userId } = await addCaller(app, ["IAM_OWNER_VIEWER"]);
      const watcher = await watch({ port, token }, {}, open);
      const [found] = bodyOf(
        await post("/memberships/_search", [{ in_user_ids: { ids: [userId] } }]),
      ).result;
      bodyOf(await remove(`/memberships/${found.details.id}`));
      await endOf(watcher);
      assert.deepEqual(watcher.ended, { code: 7, reason: "PERMISSION_MISSING" });
      await newTarget();
      await delay(100);
      assert.ok(!watcher.types().includes("target.added"));
    });
  });
}

describe("a watcher", () => {
  it("is ended when their user is deactivated", async () => {
    const { token, userId } = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const watcher = await watch({ port, token });
    bodyOf(await post(`/users/${userId}/_deactivate`));
    await endOf(watcher);
    assert.deepEqual(watcher.ended, { code: 16, reason: "TOKEN_INVALID" });
  });

  it("is ended when their token expires", async () => {
    const token = await operator.tokenFor(app.made.issuer, new Date(), 2_000 - 10_000);
    const watcher = await watch({ port, token });
    assert.equal(watcher.ended, undefined);
    // Clocks may be 10 seconds apart: a token that expired 8 seconds ago holds for about 2 more.
    await endOf(watcher, 11);
    assert.deepEqual(watcher.ended, { code: 16, reason: "SYSTEM_TOKEN_INVALID" });
  });

  it("is ended when their instance is blocked, but for system callers", async () => {
    const { token } = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const watcher = await watch({ port, token });
    const system = await operator.tokenFor(app.made.issuer);
    const above = await watch({ port, token: system });
    await asSystem(`/instances/${app.made.instance_id}/_limit`, { block: true });
    try {
      await endOf(watcher);
      assert.deepEqual(watcher.ended, { code: 8, reason: "INSTANCE_BLOCKED" });
      await delay(600);
      assert.equal(above.ended, undefined);
    } finally {
      await asSystem(`/instances/${app.made.instance_id}/_limit`, { block: false });
    }
    await newTarget();
    await until(() => above.types().includes("target.added"), "the system caller is told on");
    above.leave();
  });

  it("is ended when the organization that it named is deleted", async () => {
    const id = await addOrganization();
    const { create } = await import("@bufbuild/protobuf");
    const { RequestContextSchema } = await import("#gen/idsvc/object/v3alpha/object_pb.ts");
    const ctx = create(RequestContextSchema, { context: { case: "orgId", value: id } });
    const watcher = await watch({ port, token: app.token }, { ctx });
    bodyOf(await remove(`/organizations/${id}`));
    await endOf(watcher);
    assert.deepEqual(watcher.ended, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
  });

  it("sees less from the moment on that they may read less", async () => {
    const mine = await addOrganization();
    const { token, membershipId } = await readerOf(app, mine);
    const loaded = await kernel.events.load(
      (await import("../../../src/resources/membership/membership.ts")).membership,
      app.made.instance_id,
      membershipId,
    );
    const userId = loaded.state?.userId ?? "";
    const wide = { ctx: { instance_id: app.made.instance_id }, user_id: userId };
    const { details } = bodyOf(
      await post("/memberships", { ...wide, roles: ["IAM_OWNER_VIEWER"] }),
      201,
    );
    const watcher = await watch({ port, token });
    const first = await newTarget();
    await until(() => watcher.types().includes("target.added"), "they see the instance");
    bodyOf(await remove(`/memberships/${details.id}`));
    const headers = { "x-idsvc-orgid": mine };
    const toldOf = (type: string) => watcher.types().filter((each) => each === type).length;
    const seesLess = async () => {
      const [changes, projects] = [toldOf("target.changed"), toldOf("project.added")];
      bodyOf(await patch(`/targets/${first}`, { name: uniqueName() }));
      bodyOf(await post("/projects", { name: "P" }, { token: app.token, headers }), 201);
      await until(() => toldOf("project.added") > projects, "they still see their organization");
      return toldOf("target.changed") === changes;
    };
    await withinRounds("they see less", { rounds: 4, pauseMs: 300 }, seesLess);
    assert.equal(watcher.ended, undefined);
    watcher.leave();
  });

  it("is shown nothing older than the audit log retention, from the moment it is set", async () => {
    // Longer than a busy machine takes to send a new event.
    const retention = 5;
    await newTarget();
    await delay(retention * 1_000 + 100);
    const limit = { audit_log_retention: `${retention}s` };
    await asSystem(`/instances/${app.made.instance_id}/_limit`, limit);
    try {
      const watcher = await watch({ port, token: app.token }, { afterSequence: 0n });
      const id = await newTarget();
      await until(() => watcher.types().includes("target.added"), "the new one is told");
      const ids = watcher.told.flatMap(({ event }) => event?.aggregate?.id ?? []);
      assert.deepEqual(ids, [id]);
      watcher.leave();
    } finally {
      await asSystem(`/instances/${app.made.instance_id}/_limit`, {
        audit_log_retention: "315360000s",
      });
    }
  });
});

describe("a watcher that does not read", () => {
  it("costs no memory that grows with the log, and finds everything once it reads", async () => {
    const { user_id: userId } = app.made.machine;
    const start = await service.eventCount();
    const body = JSON.stringify({ after_sequence: String(start) });
    const socket = net.connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(
      `POST /resources/v3alpha/events/_watch HTTP/1.1\r\nhost: localhost:${port}\r\n` +
        `authorization: Bearer ${app.token}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, "readable");
    const before = memory();
    const written = 30;
    for (let nth = 1; nth <= written; nth++) {
      const value = Buffer.alloc(500_000, nth).toString("base64");
      bodyOf(await put(`/users/${userId}/metadata/slow${nth % 5}`, { value }));
    }
    // 20 MB were written: a watcher holds a step of the log, and what was handed to the connection.
    await until(() => memory() - before < 8_000_000, "its memory is that of before");
    let bytes = 0;
    socket.on("data", (piece: Buffer) => void (bytes += piece.length));
    await until(() => bytes >= written * 666_668, "everything is read");
    socket.destroy();
  });
});

describe("a service that stops", () => {
  it("F23: ends its watchers with UNAVAILABLE, over every protocol, and is not held up by them", async () => {
    const other = await startPeer({ env: { IDSVC_SHUTDOWN_TIMEOUT: "2m" } });
    const to = { port: other.app.port, token: other.app.token };
    const watchers = await Promise.all(protocols.map(([, open]) => watch(to, {}, open)));
    const since = performance.now();
    await other[Symbol.asyncDispose]();
    assert.ok(performance.now() - since < 120_000);
    for (const [nth, watcher] of watchers.entries()) {
      await endOf(watcher);
      const expected = { code: 14, reason: "SERVICE_STOPPING" };
      assert.deepEqual(watcher.ended, expected, protocols[nth]?.[0]);
    }
  });
});
