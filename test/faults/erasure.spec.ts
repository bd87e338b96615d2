// Run: alone, early
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { idsvc } from "../cli/command.ts";
import { engine, storeEnv } from "../support/app.ts";
import { beside } from "../support/beside.ts";
import { bodyOf, type ResourcePeer, startPeer } from "../support/peer.ts";
import { sessionTokenFor } from "../support/session-token.ts";
import { found, rawStore } from "../support/raw-store.ts";
import { roundsOf } from "../support/rounds.ts";

/** A person all of whose values can be told from everything else, and from those of others. */
function person(turn: number) {
  const mark = `Zyx${String(turn).padStart(4, "0")}qv`;
  return {
    values: {
      username: `${mark}-username`,
      given: `${mark}-given`,
      family: `${mark}-family`,
      nick: `${mark}-nick`,
      email: `${mark}-mail@example.com`,
      newEmail: `${mark}-second@example.com`,
      phone: `+4179${String(7_000_000 + turn)}`,
      otp: `+4178${String(6_000_000 + turn)}`,
      metadata: `${mark}-metadata`,
      oldMetadata: `${mark}-was-metadata`,
    },
  };
}
type Person = ReturnType<typeof person>;

async function live({ app, post, put, patch }: ResourcePeer, { values }: Person): Promise<string> {
  const { username, given, family, nick, email, newEmail, phone, otp } = values;
  const made = await post("/users", {
    username,
    data: { given_name: given, family_name: family },
    contact: { email: { address: email, is_verified: true }, phone: { number: phone } },
    authenticators: { password: { password: "correct horse battery staple" } },
  });
  const id = String(bodyOf(made, 201).details.id);
  bodyOf(await patch(`/users/${id}`, { data: { given_name: given, nickname: nick } }));
  bodyOf(await put(`/users/${id}/email`, { address: newEmail, is_verified: true }));
  bodyOf(await post(`/users/${id}/otp_sms`, { number: otp, is_verified: true }));
  for (const text of [values.oldMetadata, values.metadata]) {
    const value = Buffer.from(text).toString("base64");
    bodyOf(await put(`/users/${id}/metadata/note`, { value }));
  }
  const own = { token: await sessionTokenFor(app, id) };
  bodyOf(await post(`/users/${id}/personal_access_tokens`, {}, own));
  return id;
}

async function newFolder() {
  const dataDir = mkdtempSync(join(tmpdir(), "idsvc-erase-"));
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  return { dataDir, env: { IDSVC_DATA_DIR: dataDir, ...(await storeEnv(dataDir)) } };
}

const keyOf = (id: string) =>
  `SELECT sealed FROM secrets WHERE owner_id = '${id}' AND kind = 'personal_key'`;

/** The log alone, as somebody has it who copied it. */
const logText = async (peer: ResourcePeer) => {
  const { rows } = await beside(peer.app.kernel, "SELECT payload, type FROM events");
  return Buffer.from(JSON.stringify(rows));
};

describe("deleting a user erases them (C7)", () => {
  it("from the store's files, and from every copy of the log, whenever it was taken", async () => {
    const { dataDir, env } = await newFolder();
    const [gone, stays] = [person(1), person(2)];
    const values = Object.values(gone.values);
    const service = await startPeer({ dataDir });
    const config = service.app.kernel.config;
    const ids = [await live(service, gone), await live(service, stays)];
    const [id = ""] = ids;

    // A copy of the log never holds what is personal: the keys are not in it.
    assert.deepEqual(found(await logText(service), values), []);
    const [[key] = []] = (await beside(service.app.kernel, keyOf(id))).rows;
    assert.ok(key instanceof Uint8Array);
    const sealedKey = Buffer.from(key);
    assert.ok(found(await rawStore(config), values).length > 5, "what is alive can be found");

    bodyOf(await service.remove(`/users/${id}`));
    assert.deepEqual(found(await logText(service), values), []);
    const told = await service.app.kernel.events.read({
      instanceId: service.app.made.instance_id,
      aggregate: { type: "user", id },
    });
    assert.ok(told.length > 3);
    assert.deepEqual(found(Buffer.from(JSON.stringify(told, plain)), values), []);
    await service[Symbol.asyncDispose]();

    const raw = await rawStore(config);
    assert.deepEqual(found(raw, values), []);
    assert.ok(!raw.includes(sealedKey) && !raw.includes(sealedKey.toString("hex")));
    assert.deepEqual(found(raw, [stays.values.username]), [stays.values.username]);
    assert.equal((await idsvc(["projections", "rebuild"], env)).code, 0);
    assert.deepEqual(found(await rawStore(config), values), []);
  });

  const people = 3 * roundsOf(20);
  it(`also of ${people} people from a store that is written anew while it serves`, async () => {
    const { dataDir, env } = await newFolder();
    const all = Array.from({ length: people }, (_, turn) => person(turn));
    const service = await startPeer({ dataDir });
    const { config } = service.app.kernel;
    const ids: string[] = [];
    for (const each of all) ids.push(await live(service, each));
    const erased = all.filter((_, turn) => turn % 3 !== 0);
    for (const [turn, id] of ids.entries()) {
      if (turn % 3 !== 0) bodyOf(await service.remove(`/users/${id}`));
    }
    const values = erased.flatMap((each) => Object.values(each.values));
    // Writers wait for it, and go on.
    const [{ code }] = await Promise.all([
      idsvc(["db", "vacuum"], env),
      service.post("/users", { username: "somebody", data: { given_name: "Some" } }),
    ]);
    assert.equal(code, 0);
    await service[Symbol.asyncDispose]();
    const raw = await rawStore(config);
    assert.deepEqual(found(raw, values), []);
    assert.equal(
      found(
        raw,
        all.map((each) => each.values.username),
      ).length,
      people / 3,
    );
    assert.equal((await idsvc(["doctor"], env)).code, 0);
  });

  it("from backups that are taken afterwards", {
    skip: engine !== "sqlite" && "backups are made by the service on SQLite alone",
  }, async () => {
    const { dataDir } = await newFolder();
    const one = person(3);
    const service = await startPeer({ dataDir });
    const id = await live(service, one);
    bodyOf(await service.remove(`/users/${id}`));
    const online = join(dataDir, "backup.db");
    await beside(service.app.kernel, `VACUUM INTO '${online}'`);
    await service[Symbol.asyncDispose]();
    const offline = join(dataDir, "copy.db");
    copyFileSync(join(dataDir, "idsvc.db"), offline);
    for (const file of [online, offline]) {
      const raw = await rawStore({ databaseUrl: { kind: "sqlite", file } });
      assert.ok(raw.length > 100_000);
      assert.deepEqual(found(raw, Object.values(one.values)), []);
    }
  });
});

const plain = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
