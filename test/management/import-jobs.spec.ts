// Run: shared, store
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { holdJobs, releaseJobs } from "../../src/jobs/hold.ts";
import { bodyOf, type ResourcePeer, startPeer } from "../support/peer.ts";
import { beside } from "../support/beside.ts";
import { hashOfOld, human, importPeer, newName } from "./import-peer.ts";

let peer: ResourcePeer;
let imports: ReturnType<typeof importPeer>;
before(async () => {
  peer = await startPeer();
  imports = importPeer(peer);
});
after(() => peer[Symbol.asyncDispose]());

const many = (name: string, count: number) => ({
  orgId: name,
  org: { name },
  humanUsers: Array.from({ length: count }, (_, nth) => human(`${name}-${nth}`)),
});

const begin = async (name: string, count: number) => {
  const query = "?awaitResponse=false";
  const answer = await imports.bring([many(name, count)], query);
  return { id: String(answer.job.id), answer };
};

async function usersOf(name: string): Promise<number> {
  const filters = [{ organization: { org_id: name } }];
  const found = await peer.post("/users/_search?query.limit=1", filters);
  return Number(bodyOf(found).details.total_result);
}

describe("an import that is not waited for", () => {
  it("answers once it is stored, can be watched, and reports each record", async () => {
    const name = newName("watched");
    const { id, answer } = await begin(name, 3);
    assert.deepEqual([answer.errors, answer.success], [[], undefined]);
    const { job } = bodyOf(await imports.call("GET", `/import/${id}`));
    assert.equal(job.total, "4");
    const done = await imports.ended(id);
    assert.equal(done.state, "IMPORT_STATE_COMPLETED");
    assert.equal(done.created, "4");
    const month = 30 * 24 * 3_600_000;
    assert.equal(Date.parse(done.expirationDate) - Date.parse(done.creationDate), month);
    const lines = await imports.report(id);
    assert.deepEqual(
      lines.map(({ position, type, id: of, outcome }) => [position, type, of, outcome]),
      [
        ["0", "org", name, "IMPORT_OUTCOME_CREATED"],
        ...[0, 1, 2].map((nth) => [
          String(nth + 1),
          "humanUsers",
          `${name}-${nth}`,
          "IMPORT_OUTCOME_CREATED",
        ]),
      ],
    );
    assert.deepEqual(await imports.report(id, "?onlyRefused=true"), []);
  });

  it("comes to what it foresaw where later records meet earlier ones that are still being written", async () => {
    const name = newName("meeting");
    const { humanUsers, ...org } = many(name, 480);
    const [first] = humanUsers;
    // Units have from 30 to 250 records: among all of these some meet a record of their own unit, and some one of the unit before.
    const met = [20, 45, 70, 120, 180, 260].map((back, at) => ({ back, at: 300 + 20 * at }));
    for (const { back, at } of met) {
      humanUsers[at] = human(`${name}-late-${back}`, { userName: `${name}-${at - back}` });
      humanUsers[at + 10] = humanUsers[at + 10 - back] ?? {};
    }
    const other = {
      orgId: `${name}-other`,
      org: { name: `${name}-other` },
      humanUsers: [first ?? {}],
    };
    const asked = [{ ...org, humanUsers }, other];
    const reportOf = async (query: string) => {
      const { id } = (await imports.bring(asked, `?awaitResponse=false${query}`)).job;
      await imports.ended(String(id));
      return await imports.report(String(id), "");
    };
    const foreseen = await reportOf("&dryRun=true");
    const report = await reportOf("");
    assert.deepEqual(report, foreseen);
    const refused = report.filter(({ outcome }) => outcome === "IMPORT_OUTCOME_REFUSED");
    assert.deepEqual(
      refused.map(({ id, reason }) => [id, reason]),
      [
        ...met.map(({ back }) => [`${name}-late-${back}`, "USERNAME_TAKEN"]),
        [`${name}-0`, "USER_ID_TAKEN"],
      ],
    );
    const existed = report.filter(({ outcome }) => outcome === "IMPORT_OUTCOME_EXISTED");
    assert.equal(existed.length, met.length);
  });

  it("waits while it is paused, goes on when it is resumed, and is through once", async () => {
    const name = newName("paused");
    const { id } = await begin(name, 1_000);
    const paused = bodyOf(await imports.call("POST", `/import/${id}/_pause`)).job;
    assert.equal(paused.state, "IMPORT_STATE_PAUSED");
    const again = await imports.call("POST", `/import/${id}/_pause`);
    assert.equal(again.refusal?.code, 9);
    assert.equal(again.refusal?.reason, "IMPORT_STATE_WRONG");
    const waiting = await imports.job(id);
    assert.ok(Number(waiting.created) < 1_001, "it was paused before its end");
    const resumed = bodyOf(await imports.call("POST", `/import/${id}/_resume`)).job;
    assert.equal(resumed.state, "IMPORT_STATE_RUNNING");
    const done = await imports.ended(id);
    assert.deepEqual([done.created, done.refused], ["1001", "0"]);
    assert.equal(await usersOf(name), 1_000);
    for (const act of ["_pause", "_resume", "_cancel"]) {
      const { refusal } = await imports.call("POST", `/import/${id}/${act}`);
      assert.equal(refusal?.reason, "IMPORT_STATE_WRONG", act);
    }
  });

  it("when it is cancelled before it has begun ends at once, and without a failure", async () => {
    const { db } = peer.app.kernel;
    await holdJobs(db, new Date());
    // From within a second on nothing is begun.
    await delay(1_200);
    const { id } = await begin(newName("early"), 3);
    const { job } = bodyOf(await imports.call("POST", `/import/${id}/_cancel`));
    assert.equal(job.state, "IMPORT_STATE_CANCELLED");
    await releaseJobs(db);
    const left = `select last_error from jobs where kind = 'management.import' and key = '${id}'`;
    for (const end = Date.now() + 60_000; ; await delay(50)) {
      const { rows } = await beside(peer.app.kernel, left);
      if (rows.length === 0) break;
      assert.equal(rows[0]?.[0], null);
      assert.ok(Date.now() < end, "the job is there");
    }
  });

  it("writes one unit after the other, each with the counts of all before it", async () => {
    const { db } = peer.app.kernel;
    const name = newName("ordered");
    const { commit } = db;
    const counts: number[] = [];
    let [atOnce, most] = [0, 0];
    db.commit = async (unit) => {
      const created = unit.changes.flatMap((change) =>
        change.op === "update" && change.table.name === "imports"
          ? [Number(change.values["created"] ?? 0)]
          : [],
      );
      if (unit.events.length === 0 || created.length === 0) return commit(unit);
      counts.push(...created);
      most = Math.max(most, (atOnce += 1));
      await delay(5);
      return commit(unit).finally(() => (atOnce -= 1));
    };
    const { id } = await begin(name, 400);
    const done = await imports.ended(id);
    db.commit = commit;
    assert.equal(done.created, "401");
    assert.equal(most, 1);
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
    );
    assert.deepEqual([counts.at(0), counts.at(-1)], [1, 401]);
  });

  it("writes rows of new people alone: nothing is ended that stands on what they had before", async () => {
    const { db } = peer.app.kernel;
    const name = newName("new");
    const { commit } = db;
    const tables = new Set<string>();
    db.commit = async (unit) => {
      const isOfThem = unit.events.some(({ type }) => type === "user.human.password.changed");
      if (isOfThem) for (const { table } of unit.changes) tables.add(table.name);
      return commit(unit);
    };
    const humanUsers = [0, 1].map((nth) => ({
      ...human(`${name}-${nth}`, { hashedPassword: { value: hashOfOld } }),
      inactive: nth === 1,
    }));
    await imports.bring([{ orgId: name, org: { name }, humanUsers }]);
    db.commit = commit;
    assert.equal(await usersOf(name), 2);
    assert.deepEqual(
      [...tables].filter((table) => !/^(import|origins|secrets|user)/.test(table)),
      [],
    );
  });

  it("when it is cancelled while a unit is decided that unit writes nothing", async () => {
    const { db } = peer.app.kernel;
    const name = newName("stopped");
    const { commit } = db;
    let cancelled: Promise<unknown> | undefined;
    db.commit = async (unit) => {
      const isOfImport = unit.events.some(({ aggregateId }) => aggregateId.startsWith(name));
      if (!isOfImport || cancelled !== undefined) return commit(unit);
      const [{ id = "" } = {}] = unit.changes.flatMap((change) =>
        change.op === "update" && change.table.name === "imports" ? [change.where] : [],
      );
      await (cancelled = imports.call("POST", `/import/${String(id)}/_cancel`));
      return commit(unit);
    };
    const { id } = await begin(name, 1);
    const done = await imports.ended(id);
    db.commit = commit;
    assert.ok(cancelled !== undefined, "it was cancelled while a unit was decided");
    assert.equal(done.state, "IMPORT_STATE_CANCELLED");
    for (const end = Date.now() + 60_000; (await jobsOf(id)) > 0; await delay(50)) {
      assert.ok(Date.now() < end, "the job is there");
    }
    assert.equal((await imports.job(id)).created ?? "0", "0");
    assert.equal((await peer.get(`/organizations/${name}`)).status, 404);
  });

  it("when it is cancelled what is there stays, and what waited is forgotten", async () => {
    const name = newName("cancelled");
    const { id } = await begin(name, 1_000);
    const { job } = bodyOf(await imports.call("POST", `/import/${id}/_cancel`));
    assert.equal(job.state, "IMPORT_STATE_CANCELLED");
    const kept = await secretsOf(id);
    assert.equal(kept, 0);
    const { created } = await imports.job(id);
    assert.ok(Number(created) < 1_001);
    assert.equal(await usersOf(name), Math.max(0, Number(created) - 1));
  });
});

async function jobsOf(id: string): Promise<number> {
  const sql = `select count(*) from jobs where kind = 'management.import' and key = '${id}'`;
  return Number((await beside(peer.app.kernel, sql)).rows[0]?.[0]);
}

async function secretsOf(id: string): Promise<number> {
  const sql = `select count(*) from secrets where owner_type = 'import' and owner_id = '${id}'`;
  return Number((await beside(peer.app.kernel, sql)).rows[0]?.[0]);
}

describe("what waits to be imported", () => {
  it("is sealed while it waits, and gone when it is through", async () => {
    const name = newName("sealed");
    const org = { orgId: name, org: { name } };
    const humanUsers = [human(`${name}-ada`, { hashedPassword: { value: hashOfOld } })];
    const { job } = await imports.bring([{ ...org, humanUsers }], "?awaitResponse=false");
    await imports.call("POST", `/import/${job.id}/_pause`);
    const waiting = await imports.job(job.id);
    if (waiting.state === "IMPORT_STATE_PAUSED") {
      assert.ok((await secretsOf(job.id)) > 0, "batches wait among the secrets");
      await imports.call("POST", `/import/${job.id}/_resume`);
    }
    await imports.ended(job.id);
    assert.equal(await secretsOf(job.id), 0);
    const sql = `select outcomes from import_batches where import_id = '${job.id}'`;
    const { rows } = await beside(peer.app.kernel, sql);
    assert.ok(rows.length === 2);
    assert.ok(!JSON.stringify(rows).includes(hashOfOld.slice(-20)));
  });
});

describe("an import that is waited for", () => {
  it("is told when the time is up, and goes on", async () => {
    const name = newName("late");
    const body = { dataOrgs: { orgs: [many(name, 500)] }, timeout: "1ms" };
    const { status, refusal } = await imports.call("POST", "/import", body);
    assert.equal(status, 504);
    assert.equal(refusal?.reason, "IMPORT_TIMEOUT");
    const id = String(refusal?.metadata?.["import_id"]);
    const { created } = await imports.ended(id);
    assert.equal(created, "501");
  });

  it("refuses an unknown import, also of another kind of call", async () => {
    for (const [method, path] of [
      ["GET", "/import/404"],
      ["GET", "/import/404/report"],
      ["POST", "/import/404/_pause"],
      ["POST", "/import/404/_resume"],
      ["POST", "/import/404/_cancel"],
    ] as const) {
      const { status, refusal } = await imports.call(method, path);
      assert.equal(status, 404, path);
      assert.equal(refusal?.reason, "IMPORT_NOT_FOUND", path);
    }
  });
});

describe("an import that breaks off while it is sent (F29)", () => {
  const counted = async () => {
    const sql = `select count(*) from imports where state = 'receiving'`;
    return Number((await beside(peer.app.kernel, sql)).rows[0]?.[0]);
  };
  const until = async (count: number) => {
    for (let tries = 0; (await counted()) !== count; tries++) {
      assert.ok(tries < 200, `${count} imports are being received`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  it("imports nothing and leaves nothing", async () => {
    const name = newName("broken");
    const { token, port } = { ...peer.app };
    const sent = request({
      host: "localhost",
      port,
      path: "/management/v1/import",
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        host: "localhost:8080",
        "content-type": "application/json",
        "transfer-encoding": "chunked",
      },
    });
    sent.on("error", () => undefined);
    const text = JSON.stringify({ dataOrgs: { orgs: [many(name, 300)] } });
    sent.write(text.slice(0, text.length - 100));
    await until(1);
    const closed = new Promise((resolve) => sent.once("close", resolve));
    sent.destroy();
    await closed;
    await until(0);
    assert.equal((await peer.get(`/organizations/${name}`)).status, 404);
  });

  it("may break off before it is looked at, harms nobody and leaves nothing (F29)", async () => {
    const { port, token } = peer.app;
    const strays: unknown[] = [];
    const stray = (error: unknown) => void strays.push(error);
    process.on("uncaughtExceptionMonitor", stray);
    const head = [
      "POST /management/v1/import HTTP/1.1",
      "host: localhost",
      `authorization: Bearer ${token}`,
      "content-type: application/json",
      "content-length: 1000",
      "",
      "",
    ];
    for (let nth = 0; nth < 96; nth++) {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      socket.write(head.join("\r\n"));
      await new Promise((resolve) => setTimeout(resolve, nth % 12));
      socket.resetAndDestroy();
    }
    assert.equal((await peer.get("/organizations/404")).status, 404);
    await until(0);
    process.off("uncaughtExceptionMonitor", stray);
    assert.deepEqual(strays, []);
  });
});
