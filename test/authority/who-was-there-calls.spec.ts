// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { count, eq } from "../../src/storage/drizzle.ts";
import { origins } from "../../src/storage/kernel-tables.ts";
import { watch } from "../resources/event/watchers.ts";
import { until } from "../jobs/place.ts";
import { addCaller } from "../support/app.ts";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";
import { protocols } from "../support/protocols.ts";
import { anyAddress, from, historyOf, originOf } from "./origins.ts";

const peer = await startPeer({ env: { IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1" } });
const { app } = peer;
after(() => peer[Symbol.asyncDispose]());

const addPerson = async (): Promise<string> => {
  const username = uniqueName("person").replace(" ", "");
  const person = { username, data: { given_name: "Ada", family_name: "Lovelace" } };
  return String(bodyOf(await peer.post("/users", person), 201).details.id);
};
const rename = () => uniqueName("renamed").replace(" ", "");

describe("who was there, over every protocol", () => {
  for (const protocol of protocols) {
    it(`is written by a call and read by another: ${protocol}`, async () => {
      const id = await addPerson();
      const address = anyAddress();
      const changed = await peer.peer.call(
        protocol,
        UserService.method.patchUser,
        { id, user: { username: rename() } },
        { token: app.token, headers: { "x-forwarded-for": address } },
      );
      assert.ok(changed.ok);
      const filters = [
        { filter: { case: "aggregate" as const, value: { type: "user", id } } },
        {
          filter: {
            case: "types" as const,
            value: { types: ["user.username.changed"] },
          },
        },
      ];
      const found = await peer.peer.call(
        protocol,
        EventService.method.searchEvents,
        { filters },
        { token: app.token },
      );
      assert.ok(found.ok);
      const [event] = found.message.result;
      assert.equal(event?.editor?.origin?.address, address);
    });
  }

  it("is told to whoever follows the log, as far as they may see it", async () => {
    const id = await addPerson();
    const address = anyAddress();
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const told = await Promise.all(
      [app.token, viewer.token].map((token) => watch({ port: app.port, token })),
    );
    bodyOf(await peer.patch(`/users/${id}`, { username: rename() }, { headers: from(address) }));
    for (const watcher of told) {
      await until(() => watcher.types().includes("user.username.changed"), "it is told");
      const message = watcher.told.find(({ event }) => event?.type === "user.username.changed");
      assert.equal(message?.event?.editor?.origin?.address, address);
      watcher.leave();
    }
  });
});

describe("an origin", () => {
  it("is written once for all events of one who is there", async () => {
    const { db } = app.kernel;
    const t = db.table(origins);
    const caller = await addCaller(app, ["IAM_OWNER"]);
    const rows = async () => {
      const [found] = await db.read
        .select({ rows: count() })
        .from(t)
        .where(eq(t.personId, caller.userId));
      return found?.rows;
    };
    const id = await addPerson();
    const options = { token: caller.token, headers: from(anyAddress()) };
    for (let times = 0; times < 5; times += 1) {
      bodyOf(await peer.patch(`/users/${id}`, { username: rename() }, options));
    }
    assert.equal(await rows(), 1);
    const moved = { token: caller.token, headers: from(anyAddress()) };
    bodyOf(await peer.patch(`/users/${id}`, { username: rename() }, moved));
    assert.equal(await rows(), 2);
    const addresses = (await historyOf(peer, id))
      .filter(({ type }) => type === "user.username.changed")
      .map(({ editor }) => editor.origin?.address);
    assert.equal(new Set(addresses).size, 2);
    assert.equal(addresses.length, 6);
  });

  it("is none in events of the service itself", async () => {
    const events = await historyOf(peer, app.made.admin.user_id);
    assert.equal(originOf(events, "user.human.added"), undefined);
  });
});
