// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commentOf } from "../../../src/api/system/comments.ts";

describe("the comment of a declaration", () => {
  const action = "idsvc.resources.action.v3alpha";
  const comments = {
    [`${action}.ActionService.GetTarget`]: "Returns one target.",
    [`${action}.GetTargetRequest`]: "The target to return.",
    [`${action}.GetTargetRequest.id`]: "The ID of the target.",
    [`${action}.Condition.condition_type`]: "Exactly one kind of condition is required.",
    [`${action}.ExecutionType`]: "The kinds of conditions that executions run on.",
    [`${action}.ExecutionType.EXECUTION_TYPE_EVENT`]: "Executions that run on events.",
  };
  for (const [name, comment] of Object.entries(comments)) {
    it(`is found for ${name}`, () => assert.equal(commentOf(name), comment));
  }

  it("is one line a paragraph, as Markdown wants it", () =>
    assert.equal(
      commentOf(`${action}.ActionService.SearchTargets`),
      "Returns the targets of the instance that match all filters, or all targets without a filter. Give a limit and a sorting column to page through them.",
    ));
  it("is empty for what has none, or is not ours", () => {
    assert.equal(commentOf(`${action}.Nothing`), "");
    assert.equal(commentOf("google.rpc.Status"), "");
    assert.equal(commentOf(""), "");
  });
});
