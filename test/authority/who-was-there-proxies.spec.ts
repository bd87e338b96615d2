// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";
import { historyOf, originOf } from "./origins.ts";

const peer = await startPeer();
after(() => peer[Symbol.asyncDispose]());

describe("addresses where no proxy is configured", () => {
  it("are those of the connections, whatever headers say", async () => {
    const headers = {
      "x-forwarded-for": "8.8.8.8",
      "x-real-ip": "8.8.8.8",
      forwarded: "for=8.8.8.8",
    };
    const username = uniqueName("person").replace(" ", "");
    const person = { username, data: { given_name: "Ada", family_name: "Lovelace" } };
    const made = bodyOf(await peer.post("/users", person, { headers }), 201);
    const events = await historyOf(peer, made.details.id);
    assert.equal(originOf(events, "user.human.added")?.address, "127.0.0.1");
  });
});
