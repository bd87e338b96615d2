// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createChallenges } from "../../../src/resources/user/web-authn/challenges.ts";
import { originFor } from "../../../src/resources/user/web-authn/client-data.ts";
import { startUserPeer, together } from "./user-peer.ts";

const service = await startUserPeer();
const { at, deps, addPerson } = service;
after(() => service[Symbol.asyncDispose]());

describe("a challenge", () => {
  it("is spent once, of however many that spend it at the same time (C6)", async () => {
    const challenges = createChallenges(deps.db);
    const user = { instanceId: at.instanceId, userId: await addPerson() };
    const of = { id: "1", purpose: "login" } as const;
    await deps.events.transact(at, (tx) =>
      challenges.open(tx, user, { ...of, domain: "localhost", userVerification: "required" }),
    );
    const taken = await together(5, () =>
      deps.events.transact(at, (tx) => challenges.take(tx, user, of)),
    );
    assert.equal(taken.filter((one) => one !== undefined).length, 1);
  });
});

describe("the page that answers", () => {
  const originOf = (origin: string, rpId: string) =>
    originFor(Buffer.from(JSON.stringify({ origin })).toString("base64url"), {
      domain: rpId,
      related: [],
    });
  const pages: [origin: string, rpId: string, isRight: boolean][] = [
    ["https://id.example.com", "id.example.com", true],
    ["https://id.example.com:8443", "id.example.com", true],
    ["http://id.example.com", "id.example.com", false],
    ["https://www.id.example.com", "id.example.com", false],
    ["https://example.com", "id.example.com", false],
    ["https://id.example.com.evil.test", "id.example.com", false],
    ["http://localhost:3000", "localhost", true],
    ["ftp://localhost", "localhost", false],
    ["android:apk-key-hash:x", "localhost", false],
  ];
  for (const [origin, rpId, isRight] of pages) {
    it(`${isRight ? "may" : "may not"} be ${origin} for ${rpId}`, () => {
      assert.equal(originOf(origin, rpId), isRight ? origin : undefined);
    });
  }
});
