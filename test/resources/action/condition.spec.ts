// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ConditionSchema } from "#gen/idsvc/resources/action/v3alpha/execution_pb.ts";
import {
  type Condition,
  conditionId,
  fromCondition,
  functions,
  isInGroup,
  requireKnown,
  toCondition,
} from "../../../src/resources/action/execution/condition.ts";
import { assertRefused } from "../../api/transcode/refusal.ts";

const method = "/idsvc.session.v3.SessionService/ListSessions";
const service = "idsvc.session.v3.SessionService";

const conditions: [string, Condition][] = [
  ["request", { type: "request", scope: "all", value: "" }],
  [`request.${service}`, { type: "request", scope: "service", value: service }],
  [`request.${service}.ListSessions`, { type: "request", scope: "method", value: method }],
  ["response", { type: "response", scope: "all", value: "" }],
  [`response.${service}`, { type: "response", scope: "service", value: service }],
  [`response.${service}.ListSessions`, { type: "response", scope: "method", value: method }],
  ["function.preuserinfo", { type: "function", scope: "function", value: "preuserinfo" }],
  ["event", { type: "event", scope: "all", value: "" }],
  ["event.user.human.added", { type: "event", scope: "event", value: "user.human.added" }],
  ["event.user.human.*", { type: "event", scope: "group", value: "user.human" }],
];

describe("the id of a condition (X1)", () => {
  for (const [id, condition] of conditions)
    it(`of ${condition.type} ${condition.scope} is ${id}`, () =>
      assert.equal(conditionId(condition), id));
  it("tells every condition from every other", () =>
    assert.equal(new Set(conditions.map(([, each]) => conditionId(each))).size, conditions.length));
  it("is free of slashes, so that it fits into a path", () => {
    for (const [, condition] of conditions) assert.ok(!conditionId(condition).includes("/"));
  });
});

describe("a condition of the API", () => {
  for (const [id, condition] of conditions)
    it(`is the same there and back: ${id}`, () =>
      assert.deepEqual(toCondition(create(ConditionSchema, fromCondition(condition))), condition));
  it("names a group with or without its star", () => {
    for (const value of ["user.human", "user.human.*"]) {
      const message = create(ConditionSchema, {
        conditionType: { case: "event", value: { condition: { case: "group", value } } },
      });
      assert.equal(conditionId(toCondition(message)), "event.user.human.*");
    }
  });
});

describe("the group of an event (C8)", () => {
  for (const [type, group, inside] of [
    ["user.human.added", "user", true],
    ["user.human.added", "user.human", true],
    ["user_schema.created", "user", false],
    ["user.humanoid.added", "user.human", false],
    ["user.human", "user.human", false],
    ["user.human.added", "user.human.added", false],
    ["user.human.added", "human", false],
    ["user.human.added", "", false],
  ] as const)
    it(`"${group}" ${inside ? "holds" : "does not hold"} ${type}`, () =>
      assert.equal(isInGroup(type, group), inside));
});

describe("a condition that could never trigger (X3)", () => {
  const known = {
    methods: [method],
    services: [service],
    eventTypes: ["user.human.added", "user_schema.created"],
  };
  for (const [id, condition] of conditions)
    it(`is none of these: ${id}`, () => requireKnown(condition, known));
  for (const name of functions)
    it(`is none of these: function ${name}`, () =>
      requireKnown({ type: "function", scope: "function", value: name }, known));

  const unknown: Condition[] = [
    { type: "request", scope: "method", value: `${method}s` },
    { type: "request", scope: "method", value: method.slice(1) },
    { type: "response", scope: "service", value: "idsvc.session.v3" },
    { type: "response", scope: "service", value: service.toLowerCase() },
    { type: "event", scope: "event", value: "user.human" },
    { type: "event", scope: "event", value: "user.human.removed" },
    { type: "event", scope: "group", value: "user.hum" },
    { type: "event", scope: "group", value: "user.human.added" },
    { type: "event", scope: "group", value: "schema" },
    { type: "function", scope: "function", value: "PreUserinfo" },
    { type: "function", scope: "function", value: "toString" },
  ];
  for (const condition of unknown) {
    const { type, scope, value } = condition;
    it(`is refused as not found and named: ${type} ${scope} ${value}`, () =>
      assertRefused(() => requireKnown(condition, known), {
        kind: "notFound",
        reason: "EXECUTION_CONDITION_UNKNOWN",
        message: `no ${scope} "${value}"`,
      }));
  }
});
