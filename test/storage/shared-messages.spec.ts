// Run: shared
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import type { Socket } from "node:net";
import { it } from "node:test";
import Sqlite from "better-sqlite3";
import type { Outcome } from "../../src/storage/sqlite/apply.ts";
import { onFrame, sendFrame } from "../../src/storage/sqlite/frames.ts";
import {
  decode,
  decodeOutcome,
  encode,
  encodeCommitted,
  encodeFailure,
  encodeResults,
  type ToSharedWriter,
} from "../../src/storage/sqlite/shared-messages.ts";

const commit: ToSharedWriter = {
  kind: "commit",
  batch: 7,
  isAgain: true,
  texts: ["SELECT 1", "SELECT\n2"],
  units: [
    {
      instanceId: "one",
      events: 2,
      createdAt: 1_795_738_040_902,
      steps: [
        { statement: 0, values: ["ä\n\ud83d\ude00", 1.5, null, 2n ** 62n], expected: 0 },
        {
          statement: 3,
          values: [null, Buffer.from([0, 255]), -3n, Buffer.alloc(0), "", 2 ** 53],
          pending: [0, 1],
        },
      ],
    },
    {
      instanceId: "one",
      events: 1,
      createdAt: 1_795_738_040_902,
      steps: [
        // Of the steps before some values come again: at their place, at another one, and twice.
        {
          statement: 3,
          values: [null, Buffer.from([0, 255]), -3n, Buffer.alloc(0), "", 2 ** 53],
          pending: [0, 0],
        },
        { statement: 0, values: [1.5, 1.5, null, 2n ** 62n], expected: 1 },
        { statement: 0, values: ["1.5", 1.5, "", 2n ** 62n, null] },
      ],
    },
    { instanceId: "", events: 0, createdAt: 0, steps: [] },
  ],
  changes: '[["one",["notes/"],[]]]',
};

it("brings messages to the process that writes as they were, however they are cut", () => {
  const messages: ToSharedWriter[] = [{ kind: "hello", worker: "process/1" }, commit, commit];
  const sent = new PassThrough();
  for (const message of messages) {
    const { text, parts } = encode(message);
    sendFrame(sent as unknown as Socket, text, parts);
  }
  const stream = sent.read() as Buffer;
  for (const size of [1, 5, 100, stream.length]) {
    const socket = new PassThrough();
    const heard: ToSharedWriter[] = [];
    onFrame(socket as unknown as Socket, (frame) => heard.push(decode(frame)));
    for (let at = 0; at < stream.length; at += size) {
      socket.emit("data", stream.subarray(at, at + size));
    }
    assert.deepEqual(heard, messages);
  }
});

it("leaves the units as they are, which may have to be sent again", () => {
  const before = structuredClone(commit.units);
  encode(commit);
  assert.deepEqual(structuredClone(commit.units), before);
});

it("brings outcomes back, with the errors of the engine", () => {
  const failure = new Sqlite.SqliteError("no space", "SQLITE_FULL");
  const results = [7n, 8n, 12n, { step: 2 }, 2n ** 62n, 0n, { step: 3, error: failure }, 13n];
  const told = decodeOutcome(encodeCommitted(1.5, 0.25, encodeResults(results)));
  assert.deepEqual(told, { kind: "committed", results, tookMs: 1.5, flushMs: 0.25 });
  const others: Outcome[] = [
    { kind: "busy" },
    { kind: "failed", error: failure },
    { kind: "unknown", error: failure },
  ];
  for (const each of others) {
    if (each.kind === "committed") continue;
    assert.deepEqual(decodeOutcome(encodeFailure(each)), each);
  }
});
