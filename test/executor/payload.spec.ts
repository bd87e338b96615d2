// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { withoutSecretsOf } from "../../src/executor/payload.ts";
import { pathOf } from "../support/protocols.ts";

const { setPassword } = UserService.method;
const body = JSON.stringify({
  fullMethod: pathOf(setPassword),
  userID: "1",
  request: { id: "1", new_password: { password: "a secret" } },
  response: { details: { id: "1" } },
});
const told = (type: string, of: typeof setPassword | undefined) =>
  JSON.parse(withoutSecretsOf({ type, value: pathOf(setPassword) }, body, () => of));

describe("what a target is told later of a call", () => {
  for (const type of ["request", "response"]) {
    it(`of a ${type} holds no secret field`, () => {
      const { request, userID } = told(type, setPassword);
      assert.deepEqual(request, { id: "1", new_password: {} });
      assert.equal(userID, "1");
    });
    it(`of a ${type} is the facts alone where the method is gone, since nobody knows which fields are secret`, () => {
      assert.deepEqual(told(type, undefined), { fullMethod: pathOf(setPassword), userID: "1" });
    });
  }
  it("is left as it is where it is of no call", () => {
    assert.equal(
      withoutSecretsOf({ type: "event", value: "user.added" }, body, () => undefined),
      body,
    );
  });
});
