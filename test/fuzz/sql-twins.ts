import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connectPeer, type Peer, pathOf } from "../support/protocols.ts";
import { freshDatabase } from "../support/postgres.ts";
import type { RawAnswer } from "../support/wire.ts";
import { worldSteps } from "./sql-world.ts";

/** One of the two services. Its n-th object is `@n` in messages to both, and in what both are shown to answer. */
type Twin = { app: TestApp; peer: Peer; ids: string[] };

/** Two services that were told the same, in the same order and by the same clock: one on SQLite, one on PostgreSQL. */
export type Twins = AsyncDisposable & {
  /** Asks both the same. */
  ask(method: DescMethod, message: JsonObject): Promise<{ answer: RawAnswer; shown: JsonValue }[]>;
};

export async function startTwins(): Promise<Twins> {
  const database = await freshDatabase();
  const from = new Date();
  let steps = 0;
  // Some objects are made at one time: ties are ordered too.
  const now = () => new Date(from.getTime() + Math.floor((steps * 2) / 3) * 1_000);
  const twins: Twin[] = [];
  const dataDirs: string[] = [];
  for (const url of ["", database.url]) {
    const dataDir = mkdtempSync(join(tmpdir(), "idsvc-twin-"));
    dataDirs.push(dataDir);
    const env = url === "" ? {} : { IDSVC_DATABASE_URL: url };
    const app = await startTestApp({ dataDir, env, now });
    const { instance_id, organization_id, project_id, admin, machine } = app.made;
    const ids = [instance_id, organization_id, project_id, admin.user_id, machine.user_id];
    twins.push({ app, peer: connectPeer(app.port), ids });
  }
  for (const [path, body] of worldSteps) {
    steps += 1;
    const told: string[] = [];
    for (const twin of twins) told.push(await make(twin, path, body));

    assert.equal(told[1], told[0], `${path} ${JSON.stringify(body)}`);
  }
  return {
    ask: (method, message) => Promise.all(twins.map((twin) => ask(twin, from, method, message))),
    async [Symbol.asyncDispose]() {
      for (const { peer, app } of twins) {
        peer[Symbol.dispose]();
        await app[Symbol.asyncDispose]();
      }
      await database[Symbol.asyncDispose]();
      for (const dataDir of dataDirs) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Makes an object, and tells why not where its name is another one's already. */
async function make({ app, peer, ids }: Twin, path: string, body?: JsonObject): Promise<string> {
  const told = body && withIds(body, ids);
  const method = path.includes("/metadata/") ? "PUT" : "POST";
  const at = `/resources/v3alpha${String(withIds(path, ids))}`;
  const { json, refusal } = await peer.rest(method, at, told, { token: app.token });
  ids.push(refusal === undefined ? String(Object(Object(json).details).id) : "none");
  return refusal?.reason ?? "";
}

async function ask({ app, peer, ids }: Twin, from: Date, method: DescMethod, message: JsonObject) {
  const answer = await peer.send({
    path: pathOf(method),
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${app.token}`,
      host: `localhost:${app.port}`,
    },
    body: JSON.stringify(withIds(message, ids, from)),
  });
  const names = new Map(ids.map((id, at) => [id, `@${at}`]));
  return { answer, shown: withNames(answer.json, names) };
}

/** `@n` becomes the id of the n-th object, and `@after n` the time so many milliseconds after the start. */
function withIds(value: JsonValue, ids: readonly string[], from = new Date(0)): JsonValue {
  if (typeof value !== "string") return mapped(value, (inner) => withIds(inner, ids, from));
  const [, after] = /^@after (-?\d+)$/.exec(value) ?? [];
  if (after !== undefined) return new Date(from.getTime() + Number(after)).toISOString();
  return value.replaceAll(/@(\d+)/g, (_, at) => ids[at] ?? "none");
}

// What was drawn at random by each for itself.
const drawn = /^(?:client_id|processed_sequence|request_id|payload|key_id|timestamp|next)$/;

function withNames(value: JsonValue, names: ReadonlyMap<string, string>): JsonValue {
  if (typeof value === "string") {
    return value.replaceAll(/\d{17,19}/g, (id) => names.get(id) ?? "@other");
  }
  return mapped(value, (inner, key) => (drawn.test(key) ? "" : withNames(inner, names)));
}

function mapped(value: JsonValue, by: (inner: JsonValue, key: string) => JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((inner) => by(inner, ""));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, by(inner, key)]));
}
