// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { GetTargetResponseSchema } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import {
  CachedResponse,
  cachedResponse,
  responseOf,
  writtenAs,
} from "../../src/authz/response-cache.ts";

const init = (name: string) => ({ target: { target: { name } } });
const nameIn = (message: unknown): string => Object(message).target.target.name;

describe("an answer that is kept", () => {
  it("is made once of what it is made of", () => {
    let made = 0;
    const told = cachedResponse(({ name }: { name: string }) => ({
      ...init(name),
      made: (made += 1),
    }));
    const [one, other] = [{ name: "one" }, { name: "other" }];
    assert.equal(told(one), told(one));
    assert.notEqual(told(one), told(other));
    assert.equal(made, 2);
  });

  it("stands for one message, which nobody can change", () => {
    const answer = new CachedResponse(init("a"));
    const { message } = responseOf(GetTargetResponseSchema, answer);
    assert.equal(responseOf(GetTargetResponseSchema, answer).message, message);
    const inside = Object(message).target.target;
    assert.throws(() => Object.assign(inside, { name: "b" }), TypeError);
    assert.throws(() => Object.assign(message, { target: undefined }), TypeError);
    assert.equal(nameIn(message), "a");
  });

  it("is written once in each form", () => {
    const response = responseOf(GetTargetResponseSchema, new CachedResponse(init("a")));
    let written = 0;
    const write = (form: string) =>
      writtenAs(response, form, (what) => `${form} ${nameIn(what)} ${(written += 1)}`);
    assert.deepEqual(["x", "y", "x", "y"].map(write), ["x a 1", "y a 2", "x a 1", "y a 2"]);
  });

  it("is no other: what is not kept is made and written anew each time", () => {
    const answer = init("a");
    const response = responseOf(GetTargetResponseSchema, answer);
    assert.notEqual(responseOf(GetTargetResponseSchema, answer).message, response.message);
    let written = 0;
    const write = () => writtenAs(response, "x", () => String((written += 1)));
    assert.deepEqual([write(), write()], ["1", "2"]);
    assert.deepEqual(response.message, create(GetTargetResponseSchema, answer));
  });
});
