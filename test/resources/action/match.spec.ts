// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { candidates, type Trigger } from "../../../src/resources/action/execution/match.ts";

const method = "/idsvc.session.v3.SessionService/ListSessions";

describe("the executions that could run, most specific first (X4)", () => {
  for (const [title, trigger, expected] of [
    [
      "on a request: method, then service, then all",
      { type: "request", method },
      [
        "request.idsvc.session.v3.SessionService.ListSessions",
        "request.idsvc.session.v3.SessionService",
        "request",
      ],
    ],
    [
      "on a response: method, then service, then all",
      { type: "response", method },
      [
        "response.idsvc.session.v3.SessionService.ListSessions",
        "response.idsvc.session.v3.SessionService",
        "response",
      ],
    ],
    [
      "on an event: itself, then its groups from the deepest, then all",
      { type: "event", eventType: "user.human.password.changed" },
      [
        "event.user.human.password.changed",
        "event.user.human.password.*",
        "event.user.human.*",
        "event.user.*",
        "event",
      ],
    ],
    [
      "on an event whose first segment has an underscore: its groups are whole segments (C8)",
      { type: "event", eventType: "user_schema.created" },
      ["event.user_schema.created", "event.user_schema.*", "event"],
    ],
    [
      "on a function: that one alone",
      { type: "function", name: "preuserinfo" },
      ["function.preuserinfo"],
    ],
  ] satisfies [string, Trigger, string[]][])
    it(title, () => assert.deepEqual(candidates(trigger), expected));

  it("are at most one of each: the first that is set runs, no other", () => {
    const found = candidates({ type: "event", eventType: "a.b.a.b" });
    assert.equal(new Set(found).size, found.length);
  });
});
