// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonValue } from "@bufbuild/protobuf";
import { verifyProjections } from "../../../src/projection/rebuild.ts";
import { columnName } from "../../../src/storage/table.ts";
import { clock, until } from "../../jobs/place.ts";
import { beside } from "../../support/beside.ts";
import { bodyOf, startPeer } from "../../support/peer.ts";
import { systemCaller } from "../../support/system-caller.ts";

const time = clock();
const operator = systemCaller();
const service = await startPeer({ env: operator.env, now: time.now });
const { app, peer, get } = service;
after(() => service[Symbol.asyncDispose]());
const { kernel } = app;
const system = await operator.tokenFor(app.made.issuer);

const asSystem = (method: string, path: string, body?: JsonValue) =>
  peer.rest(method, `/resources/v3alpha${path}`, body, { token: system });

let domains = 0;
async function makeInstance() {
  const host = `gone${domains++}.tenant.test`;
  const made = bodyOf(
    await asSystem("POST", "/instances", {
      name: "Gone",
      domain: host,
      organization: { name: "First" },
      machine: { username: "owner", name: "Owner" },
    }),
    201,
  );
  const id = String(made.details.id);
  const at = { token: String(made.personal_access_token), host };
  const post = async (path: string, body: JsonValue) =>
    bodyOf(await peer.rest("POST", `/resources/v3alpha${path}`, body, at), 201);
  await post("/users", {
    username: "augusta",
    data: { given_name: "Augusta" },
    contact: { email: { address: "augusta@person.example" } },
  });
  await post("/projects", { name: "Project" });
  await post("/targets", { name: "hook", rest_webhook: { url: "http://localhost:9999/x" } });
  return { id, at };
}

/** The tables that hold rows of the instance. */
async function holding(id: string): Promise<string[]> {
  const found: string[] = [];
  for (const { table, column } of kernel.holdings) {
    const { rows } = await beside(
      kernel,
      `select count(*) from "${table.name}" where "${columnName(column)}" = '${id}'`,
    );
    if (Number(rows[0]?.[0]) > 0) found.push(table.name);
  }
  return found;
}

const isOver = async (id: string) => {
  const sql = `select sequence from events where instance_id = '${id}' and type = 'instance.contents.removed'`;
  return (await beside(kernel, sql)).rows.length > 0;
};

describe("deleting an instance with everything in it", () => {
  it("erases what was sealed at once, and a job removes its rows from every table", async () => {
    const { id, at } = await makeInstance();
    const { id: neighbour, at: there } = await makeInstance();
    const full = await holding(id);
    for (const name of ["users", "projects", "targets", "secrets", "claims", "memberships"]) {
      assert.ok(full.includes(name), `${name} holds rows before`);
    }
    bodyOf(await asSystem("DELETE", `/instances/${id}`));
    assert.equal((await get("/organizations/instance_default", at)).status, 404);
    const now = await holding(id);
    assert.ok(!now.includes("secrets") && now.includes("users") && now.includes("jobs"));
    const log = await kernel.events.read({ instanceId: id, types: ["user.human.added"] });
    const [added] = log;
    assert.ok(added);
    const { username, data } = added.payload as { username: string; data: string };
    assert.deepEqual([username, data], ["", ""]);

    // Calls that were under way may still write for a moment: the job waits for them to end.
    time.forward(61_000);
    await until(() => isOver(id), "the contents are removed");
    assert.deepEqual(await holding(id), []);
    assert.ok((await holding(neighbour)).includes("users"));
    bodyOf(await get("/organizations/instance_default", there));
    const differing = await verifyProjections(kernel, kernel.projectionTables);
    assert.deepEqual(
      [...differing].filter(([, rows]) => rows > 0),
      [],
    );
  });

  it("says who did it, once", async () => {
    const { id } = await makeInstance();
    bodyOf(await asSystem("DELETE", `/instances/${id}`));
    time.forward(61_000);
    await until(() => isOver(id), "the contents are removed");
    // A mail that was under way writes its end between the two.
    const types = ["instance.removed", "instance.contents.removed"];
    const log = await kernel.events.read({ instanceId: id, types });
    assert.deepEqual(
      log.map(({ type, editorId }) => [type, editorId]),
      types.map((type) => [type, "system:operator"]),
    );
  });
});
