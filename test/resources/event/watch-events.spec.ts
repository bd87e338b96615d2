// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import {
  type EventSearchFilter,
  EventSearchFilterSchema,
} from "#gen/idsvc/resources/event/v3alpha/query_pb.ts";
import { until } from "../../jobs/place.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { readerOf } from "./reader.ts";
import { type Ask, protocols, watch } from "./watchers.ts";

const service = await startPeer();
const { app, post, patch, remove, addOrganization } = service;
const to = { port: app.port, token: app.token };
after(() => service[Symbol.asyncDispose]());

const filter = (init: MessageInitShape<typeof EventSearchFilterSchema>["filter"]) =>
  create(EventSearchFilterSchema, { filter: init } as MessageInitShape<
    typeof EventSearchFilterSchema
  >);
const ofTypes = (...types: string[]): EventSearchFilter =>
  filter({ case: "types", value: { types } });

const target = () => ({
  name: uniqueName("target"),
  rest_webhook: { url: "http://localhost:9999/x" },
});
const newTarget = async () => String(bodyOf(await post("/targets", target()), 201).details.id);
const head = async () => BigInt(await service.eventCount());

for (const [name, open] of protocols) {
  describe(`watching events over ${name}`, () => {
    it("sends what happens from now on, each with the sequence to resume from", async () => {
      const before = await head();
      const watcher = await watch(to, {}, open);
      assert.equal(watcher.told[0]?.sequence, before);
      assert.equal(watcher.told[0].event, undefined);
      const id = await newTarget();
      bodyOf(await patch(`/targets/${id}`, { name: uniqueName() }));
      bodyOf(await remove(`/targets/${id}`));
      await until(() => watcher.types().length === 3, "three events are told");
      assert.deepEqual(watcher.types(), ["target.added", "target.changed", "target.removed"]);
      for (const { sequence, event } of watcher.told.slice(1)) {
        assert.equal(sequence, event?.sequence);
        assert.equal(event?.aggregate?.id, id);
      }
      watcher.leave();
      await until(() => watcher.ended !== undefined, "the stream is closed");
    });

    it("resumes behind a sequence without a hole and without a repeat", async () => {
      const start = await head();
      for (let nth = 0; nth < 5; nth++) await newTarget();
      const first = await watch(to, { afterSequence: start }, open);
      await until(() => first.types().length === 5, "five events are told");
      first.leave();
      const last = first.told.at(3)?.sequence;
      assert.ok(last);
      const second = await watch(to, { afterSequence: last }, open);
      await until(() => second.types().length === 2, "the last two are told again");
      const sequences = [...first.told.slice(1, 4), ...second.told.slice(1)];
      const told = sequences.map(({ sequence }) => sequence - start);
      assert.deepEqual(told, [1n, 2n, 3n, 4n, 5n]);
      second.leave();
    });

    it("keeps to its filters", async () => {
      const only = await watch(to, { filters: [ofTypes("target.removed")] }, open);
      const id = await newTarget();
      bodyOf(await remove(`/targets/${id}`));
      await until(() => only.types().length === 1, "one event is told");
      assert.deepEqual(only.types(), ["target.removed"]);
      only.leave();
    });

    it("is refused without the permission, and with a filter that breaks a rule", async () => {
      const { token } = await addCaller(app, []);
      const stranger = await watch({ port: app.port, token }, {}, open);
      assert.deepEqual(stranger.ended, { code: 7, reason: "PERMISSION_MISSING" });
      const unknown = await watch({ port: app.port, token: "idsvc_pat_unknown" }, {}, open);
      assert.deepEqual(unknown.ended, { code: 16, reason: "TOKEN_INVALID" });
      const wrong = await watch(to, { filters: [ofTypes()] }, open);
      assert.deepEqual(wrong.ended, { code: 3, reason: "VALIDATION_FAILED" });
    });
  });
}

describe("a watcher of the whole log", () => {
  it("is told every event exactly once, in the order of the log, while many write", async () => {
    const start = await head();
    const watchers = await Promise.all(
      Array.from({ length: 20 }, () => watch(to, { afterSequence: start })),
    );
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let nth = 0; nth < 20; nth++) await newTarget();
      }),
    );
    const end = await head();
    assert.equal(end - start, 160n);
    for (const watcher of watchers) {
      await until(() => watcher.told.at(-1)?.sequence === end, "the watcher has come to the end");
      const told = watcher.told.slice(1).map(({ sequence }) => sequence);
      assert.deepEqual(
        told,
        Array.from({ length: 160 }, (_, nth) => start + BigInt(nth) + 1n),
      );
      watcher.leave();
    }
  });

  it("sees only their organization's events who reads in one organization", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const { token } = await readerOf(app, mine);
    const watcher = await watch({ port: app.port, token });
    for (const id of [other, mine, other]) {
      const headers = { "x-idsvc-orgid": id };
      bodyOf(await post("/projects", { name: "P" }, { token: app.token, headers }), 201);
    }
    await newTarget();
    // Events come in the order of the log: with the last one, all before it have come.
    const headers = { "x-idsvc-orgid": mine };
    bodyOf(await post("/projects", { name: "last" }, { token: app.token, headers }), 201);
    await until(() => watcher.types().length > 1, "the last event is told");
    const owners = watcher.told.flatMap(({ event }) => event?.owner?.id ?? []);
    assert.deepEqual(owners, [mine, mine]);
    watcher.leave();
  });

  it("gets through a log that is much larger than what is read at once", async () => {
    const start = await head();
    const { kernel, made } = app;
    const { targets } = await import("../../../src/resources/action/target/target.ts");
    const id = await newTarget();
    const at = { instanceId: made.instance_id, editorId: "bulk", service: "", clientId: "" };
    for (let round = 0; round < 12; round++) {
      await kernel.events.transact({ ...at, requestId: "" }, async (tx) => {
        const loaded = await tx.load(targets.aggregate, id);
        const many = Array.from({ length: 1_000 }, (_, nth) =>
          targets.events.changed({ name: `bulk ${round}/${nth}` }),
        );
        tx.record(targets.aggregate, loaded, many);
      });
    }
    bodyOf(await remove(`/targets/${id}`));
    const filters: Ask["filters"] = [ofTypes("target.removed")];
    const sparse = await watch(to, { afterSequence: start, filters });
    await until(() => sparse.types().length === 1, "the one behind 12,000 others is told");
    sparse.leave();
    const whole = await watch(to, { afterSequence: start });
    await until(() => whole.types().at(-1) === "target.removed", "all are told");
    assert.equal(whole.types().length, 12_002);
    whole.leave();
  });
});
