import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { modules } from "../../src/app/modules.ts";
import { typesOf } from "../../src/eventstore/eventstore.ts";
import { and, asc, eq, inArray } from "../../src/storage/drizzle.ts";
import { events, secrets } from "../../src/storage/kernel-tables.ts";
import { condition, makeWorld, samples } from "../api/samples.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { depsTold } from "../support/deps.ts";
import { connectPeer } from "../support/protocols.ts";
import { systemCaller } from "../support/system-caller.ts";
import { folder, type FrozenStream, frozenStreams, masterKey } from "./frozen-log.ts";
import { fingerprint, replay } from "./frozen-replay.ts";
import { rareChecks } from "./rare-checks.ts";
import { rareEmailLogins } from "./rare-email-logins.ts";
import { rareEvents } from "./rare-events.ts";
import { rareLogins } from "./rare-logins.ts";
import { rareNotices } from "./rare-notices.ts";
import { rareSessions } from "./rare-sessions.ts";
import { rareTokens } from "./rare-tokens.ts";

// `node test/projection/freeze.ts`: writes the state and the rows of every frozen stream anew, and freezes streams with
// the events of which there are none yet, and adds these to the list of event names. They come from a running service, to which every sample of the matrix and what
// else makes events is sent. What was stored in a frozen file is never changed.

const on = {
  multitenancy_resources_api: true,
  multitenancy_settings: true,
  oidc_token_exchange: true,
};
const types = typesOf(modules(on).flatMap((module) => module.events));
const frozen = new Set(
  [...frozenStreams.values()].flatMap((each) => each.events.map(({ type }) => type)),
);
// Names are added by themselves; that none goes is what event-names.spec.ts holds.
const namesFile = join(import.meta.dirname, "../fixtures/event-names.txt");
const known = readFileSync(namesFile, "utf8").trim().split("\n");
writeFileSync(namesFile, `${[...new Set([...known, ...types])].toSorted().join("\n")}\n`);

const missing = new Set(types.filter((type) => !frozen.has(type)));
const added = new Set<string>();

if (missing.size > 0) {
  const operator = systemCaller();
  const texts = new Map<string, string[]>();
  const told = depsTold();
  await using app = await startTestApp({
    moreModules: [told.module],
    env: { ...operator.env, IDSVC_MASTER_KEY: masterKey },
    resolver: { addresses: async () => [], texts: async (name) => texts.get(name) ?? [] },
  });
  const system = await operator.tokenFor(app.made.issuer);
  using peer = connectPeer(app.port);
  const world = await makeWorld(peer, { ...app, system, texts }, condition);
  for (const { rule } of app.app.endpoints) {
    const sample = samples[rule.path];
    if (sample === undefined || !sample.writes) continue;
    for (const turn of [0, 1]) {
      const token = sample.caller === "system" ? system : app.token;
      const request: JsonObject = await sample.valid(world, turn);
      await peer.call("connect-proto", rule.method, fromJson(rule.method.input, request), {
        token,
      });
    }
  }
  await rareEvents(peer, world, app.token, system);
  await rareChecks(told.deps(), world, (path) =>
    peer.rest("DELETE", `/resources/v3alpha${path}`, undefined, { token: app.token }),
  );
  await rareSessions(world, async (path, body) => {
    const { status, json } = await peer.rest("PATCH", `/resources/v3alpha${path}`, body, {
      token: app.token,
    });
    if (status !== 200) throw new Error(JSON.stringify(json));
  });
  await rareLogins(told.deps(), world, (path) =>
    peer.rest("DELETE", `/resources/v3alpha${path}`, undefined, { token: app.token }),
  );
  await rareEmailLogins(app, world, (path, body) =>
    peer.rest("PATCH", path, body, { token: app.token }),
  );
  await rareNotices(app, world);
  const impersonation = { enable_impersonation: { set: true } };
  await peer.rest("PATCH", "/settings/v3alpha/security", impersonation, { token: app.token });
  await rareTokens(told.deps(), app.made);
  // What a deleted instance leaves goes after a minute.
  if (missing.has("instance.contents.removed")) await delay(75_000);
  await freezeMissing(app);
}
for (const [file, stream] of allStreams()) {
  const { state, rows } = await replay(stream);
  write(file, { ...stream, state, rows });
}
const fingerprints = allStreams().map(([file, stream]): [string, string] => [
  file,
  fingerprint(stream),
]);
writeFileSync(
  join(import.meta.dirname, "../fixtures/event-fingerprints.json"),
  `${JSON.stringify(Object.fromEntries(fingerprints), undefined, 2)}\n`,
);
if (missing.size > 0) {
  console.error("no stream found with", [...missing]);
  process.exitCode = 1;
}

/** Greedy: the stream with the most events that are missing first, of these the shortest. */
async function freezeMissing({ kernel }: TestApp): Promise<void> {
  const t = kernel.db.table(events);
  const rows = await kernel.db.read.select().from(t).orderBy(asc(t.sequence));
  const streams = Map.groupBy(
    rows,
    (row) => `${row.instanceId}/${row.aggregateType}/${row.aggregateId}`,
  );
  const gain = (stream: typeof rows) =>
    new Set(stream.filter(({ type }) => missing.has(type)).map(({ type }) => type)).size;
  for (;;) {
    const [best] = [...streams.values()]
      .filter((stream) => gain(stream) > 0)
      .toSorted((a, b) => gain(b) - gain(a) || a.length - b.length);
    const [first] = best ?? [];
    if (best === undefined || first === undefined) return;
    const named = best.find(({ type }) => missing.has(type))?.type ?? first.type;
    const keys = kernel.db.table(secrets);
    const kept = await kernel.db.read
      .select()
      .from(keys)
      .where(
        and(
          eq(keys.instanceId, first.instanceId),
          inArray(keys.kind, ["data_key", "personal_key"]),
        ),
      );
    const { instanceId } = first;
    const told = JSON.stringify([first.aggregateId, ...best.map(({ payload }) => payload)]);
    write(`${named}.json`, {
      instanceId,
      aggregate: first.aggregateType,
      id: first.aggregateId,
      owner: { type: first.ownerType as FrozenStream["owner"]["type"], id: first.ownerId },
      secrets: kept
        .filter(({ kind, ownerId }) => kind === "data_key" || told.includes(ownerId))
        .map(({ ownerType, ownerId, kind, id, keyId, sealed }) => ({
          ownerType,
          ownerId,
          kind,
          id,
          keyId,
          sealed: Buffer.from(sealed ?? []).toString("base64"),
        })),
      events: best.map(({ type, revision, createdAt, payload }) => ({
        type,
        revision,
        payload,
        createdAt: createdAt.toISOString(),
      })),
      state: null,
      rows: {},
    });
    for (const { type } of best) missing.delete(type);
  }
}

function allStreams(): [string, FrozenStream][] {
  return [...frozenStreams.keys(), ...added]
    .toSorted()
    .map((file) => [file, JSON.parse(readFileSync(join(folder, file), "utf8"))]);
}

function write(file: string, stream: FrozenStream): void {
  if (!frozenStreams.has(file)) added.add(file);
  writeFileSync(join(folder, file), `${JSON.stringify(stream, undefined, 2)}\n`);
}
