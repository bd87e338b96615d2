// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { EventSearchFilterSchema } from "#gen/idsvc/resources/event/v3alpha/query_pb.ts";
import type { Scope } from "../../../src/authz/context.ts";
import { eventFeeds, type FeedReader, messageFor } from "../../../src/resources/event/feed.ts";
import { eventQueries } from "../../../src/resources/event/queries.ts";
import { homesReader } from "../../../src/resources/user/index.ts";
import { eventFormatterIn } from "../../../src/texts/event-texts.ts";
import { depsTold } from "../../support/deps.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";

const told = depsTold();
const service = await startPeer({ moreModules: [told.module] });
const { app, post, addOrganization } = service;
after(() => service[Symbol.asyncDispose]());

const deps = told.deps();
const queries = eventQueries(deps);
const join = eventFeeds({ ...deps, queries, homesOf: homesReader(deps.db) });
const log = app.made.instance_id;
// What decides a view is who calls, in which context, and what they may read where.
const scope = (part: object): Scope => ({
  ...Object({ instanceId: log, policy: { read: "events.read" }, context: { type: "instance" } }),
  caller: { kind: "user", userId: "somebody" },
  permissions: reaching([], true),
  ...part,
});
const reaching = (organizations: string[], everywhere = false) => ({
  reach: () => ({ everywhere, organizations, projects: [], projectGrants: [] }),
});
const ofProjects = create(EventSearchFilterSchema, {
  filter: { case: "types", value: { types: ["project"] } },
});
const english: FeedReader = {
  language: "en",
  format: await eventFormatterIn("en"),
  isOpen: () => true,
};
const from = async () => ({ after: await queries.head(scope({})), most: 64 });
const addProject = async (organizationId: string) => {
  const headers = { "x-idsvc-orgid": organizationId };
  const named = { name: uniqueName("project") };
  bodyOf(await post("/projects", named, { token: app.token, headers }), 201);
};

describe("a feed", () => {
  it("reads once for all who ask for the same, and reads an event once whatever they ask for", async () => {
    using feed = join(log);
    using other = join(log);
    const start = await from();
    const organizationId = await addOrganization();
    await addProject(organizationId);
    const all = await queries.viewer([])(scope({}));
    const same = await queries.viewer([])(scope({ caller: { kind: "system", name: "ops" } }));
    const some = await queries.viewer([ofProjects])(scope({}));
    assert.equal(all.key, same.key);
    const [one, two, three] = await Promise.all([
      feed.next(all, start),
      other.next(same, start),
      feed.next(some, start),
    ]);
    assert.equal(one, two);
    const [event] = three.events;
    assert.equal(three.events.length, 1);
    assert.ok(event !== undefined && one.events.includes(event));
  });

  it("shows each caller what they may read, and nothing that was read for others", async () => {
    using feed = join(log);
    const start = await from();
    const [mine, others] = [await addOrganization(), await addOrganization()];
    for (const id of [mine, others]) await addProject(id);
    const owners = async (part: object) => {
      const view = await queries.viewer([ofProjects])(scope(part));
      const { events } = await feed.next(view, start);
      return events.map(({ event }) => event.owner.id);
    };
    assert.deepEqual(await owners({}), [mine, others]);
    assert.deepEqual(await owners({ permissions: reaching([mine]) }), [mine]);
    assert.deepEqual(await owners({ permissions: reaching([others]) }), [others]);
    assert.deepEqual(await owners({ permissions: reaching([]) }), []);
    assert.deepEqual(await owners({ context: { type: "organization", organizationId: others } }), [
      others,
    ]);
    const both = {
      context: { type: "organization", organizationId: others },
      permissions: reaching([mine]),
    };
    assert.deepEqual(await owners(both), []);
  });

  it("makes one message for all who may see the same of an event, and another for others", async () => {
    using feed = join(log);
    const start = await from();
    await addProject(await addOrganization());
    const view = await queries.viewer([ofProjects])(scope({}));
    const [event] = (await feed.next(view, start)).events;
    assert.ok(event);
    const german = { ...english, language: "de" as const, format: await eventFormatterIn("de") };
    const closed = { ...english, isOpen: () => false };
    const whole = messageFor(event, english);
    assert.equal(messageFor(event, { ...english }), whole);
    assert.notEqual(messageFor(event, german), whole);
    assert.notEqual(messageFor(event, closed), whole);
    const seen = (reader: FeedReader) => Object(messageFor(event, reader).init).event.editor.origin;
    assert.ok(seen(english).address);
    assert.equal(seen(closed).address, undefined);
    assert.ok(seen(english).address, "what one may see does not depend on who was told first");
  });

  it("takes what was read for current only until something is committed", async () => {
    using feed = join(log);
    const start = await from();
    const view = await queries.viewer([])(scope({}));
    const before = await feed.next(view, start);
    assert.deepEqual([before.events.length, before.isHead], [0, true]);
    const heard = feed.heard(before);
    await addOrganization();
    await heard;
    const { events } = await feed.next(view, start);
    assert.ok(
      events.some(({ event }) => event.type === "organization.added" || event.type === "org.added"),
    );
  });
});
