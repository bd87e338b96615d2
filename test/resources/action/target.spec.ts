// Run: shared, store
import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { definition } from "../../../src/eventstore/event.ts";
import {
  patchTarget,
  type TargetConfig,
  targets,
} from "../../../src/resources/action/target/target.ts";
import { given } from "../../support/given.ts";

const { added, changed, removed } = targets.events;

const plain: Omit<TargetConfig, "payloadSecrets"> = {
  name: "audit",
  kind: "rest_webhook",
  url: "https://example.com/hook",
  timeoutMs: 10_000,
  isAsync: false,
  interruptOnError: false,
};
const audit: TargetConfig = { ...plain, payloadSecrets: false };
describe("creating a target", () => {
  it("records its whole configuration", () =>
    given(targets.aggregate)
      .when((t) => targets.add(t, audit))
      .then(added(plain)));
  it("records that it is told secrets", () => {
    const asked = { ...audit, payloadSecrets: true };
    given(targets.aggregate)
      .when((t) => targets.add(t, asked))
      .then(added(asked));
  });
  it("is refused when its id is in use", () =>
    given(targets.aggregate, added(audit))
      .when((t) => targets.add(t, { ...audit, name: "other" }))
      .thenRefused("failedPrecondition", "TARGET_EXISTS"));
});

describe("patching a target", () => {
  it("records only the fields that differ", () =>
    given(targets.aggregate, added(audit))
      .when((t) => patchTarget(t, { timeoutMs: 2_000, name: "audit" }, false))
      .then(changed({ timeoutMs: 2_000 })));
  it("compares with what the patches before it left", () =>
    given(targets.aggregate, added(audit), changed({ timeoutMs: 2_000 }))
      .when((t) => patchTarget(t, { timeoutMs: 10_000, isAsync: true }, false))
      .then(changed({ timeoutMs: 10_000, isAsync: true })));
  it("records nothing when nothing differs", () =>
    given(targets.aggregate, added(audit))
      .when((t) => patchTarget(t, audit, false))
      .thenNothing());
  it("records nothing when nothing is asked", () =>
    given(targets.aggregate, added(audit))
      .when((t) => patchTarget(t, {}, false))
      .thenNothing());
  it("takes a new spelling of the name for a change", () =>
    given(targets.aggregate, added(audit))
      .when((t) => patchTarget(t, { name: "Audit" }, false))
      .then(changed({ name: "Audit" })));
  it("records that the signing key was rotated, though no field differs", () =>
    given(targets.aggregate, added(audit))
      .when((t) => patchTarget(t, {}, true))
      .then(changed({ signingKeyRotated: true })));
  it("records a rotation and the fields that differ as one event", () =>
    given(targets.aggregate, added(audit))
      .when((t) => patchTarget(t, { timeoutMs: 2_000 }, true))
      .then(changed({ timeoutMs: 2_000, signingKeyRotated: true })));
  it("ends what it is told with another URL, unless that is given anew", () => {
    const told = added({ ...audit, payloadSecrets: true });
    const url = "https://example.com/elsewhere";
    given(targets.aggregate, told)
      .when((t) => patchTarget(t, { url }, false))
      .then(changed({ payloadSecrets: false, url }));
    given(targets.aggregate, told)
      .when((t) => patchTarget(t, { url, payloadSecrets: true }, false))
      .then(changed({ url }));
    given(targets.aggregate, told)
      .when((t) => patchTarget(t, { url: audit.url }, false))
      .thenNothing();
  });
  it("is refused for a target that was never there", () =>
    given(targets.aggregate)
      .when((t) => patchTarget(t, {}, false))
      .thenRefused("notFound", "TARGET_NOT_FOUND"));
  it("is refused once the target is removed", () =>
    given(targets.aggregate, added(audit), removed({ name: "audit" }))
      .when((t) => patchTarget(t, {}, false))
      .thenRefused("notFound", "TARGET_NOT_FOUND"));
});

describe("deleting a target", () => {
  it("records the name it had at last, so that a history can tell it", () =>
    given(targets.aggregate, added(audit), changed({ name: "second" }))
      .when((t) => targets.remove(t))
      .then(removed({ name: "second" })));
  it("is refused for a target that was never there", () =>
    given(targets.aggregate)
      .when((t) => targets.remove(t))
      .thenRefused("notFound", "TARGET_NOT_FOUND"));
  it("is refused the second time", () =>
    given(targets.aggregate, added(audit), removed({ name: "audit" }))
      .when((t) => targets.remove(t))
      .thenRefused("notFound", "TARGET_NOT_FOUND"));
});

describe("the state of a target", () => {
  it("is its configuration with every change, and no trace of rotations", () =>
    given(
      targets.aggregate,
      added(audit),
      changed({ url: "https://example.org/", signingKeyRotated: true }),
      changed({ signingKeyRotated: true }),
    ).thenState({ ...audit, url: "https://example.org/" }));
  it("is nothing once it is removed, whatever follows", () =>
    given(
      targets.aggregate,
      added(audit),
      removed({ name: "audit" }),
      changed({ name: "x" }),
    ).thenState(undefined));
});

describe("the name of a target", () => {
  const claimsOf = (type: string, payload: object) =>
    targets.events[definition].rules.get(type)?.claims?.(payload);
  it("is claimed by its fold when the target is added (C4)", () =>
    assert.deepEqual(claimsOf("target.added", { ...audit, name: "AuDIT" }), [
      { op: "hold", kind: "target.name", value: "audit" },
    ]));
  it("is claimed anew by a change of name alone", () => {
    assert.deepEqual(claimsOf("target.changed", { timeoutMs: 1 }), []);
    assert.deepEqual(claimsOf("target.changed", { name: "B" }), [
      { op: "hold", kind: "target.name", value: "b" },
    ]);
  });
  it("is free again once the target is removed", () =>
    assert.deepEqual(claimsOf("target.removed", { name: "audit" }), [
      { op: "release", kind: "target.name" },
    ]));
});
