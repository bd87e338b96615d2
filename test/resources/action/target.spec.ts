// Run: shared, store
import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { definition } from "../../../src/eventstore/event.ts";
import { type TargetConfig, targetEvents } from "../../../src/resources/action/target/events.ts";
import {
  createTarget,
  deleteTarget,
  patchTarget,
  target,
} from "../../../src/resources/action/target/target.ts";
import { given } from "../../support/given.ts";

const { added, changed, removed } = targetEvents;

const plain: Omit<TargetConfig, "payloadSecrets"> = {
  name: "audit",
  kind: "rest_webhook",
  url: "https://example.com/hook",
  timeoutMs: 10_000,
  isAsync: false,
  interruptOnError: false,
};
const audit: TargetConfig = { ...plain, payloadSecrets: false };
const patch = (changes: Partial<TargetConfig>, rotateSigningKey = false) => ({
  changes,
  rotateSigningKey,
});

describe("creating a target", () => {
  it("records its whole configuration", () =>
    given(target)
      .when((t) => createTarget(t, audit))
      .then(added(plain)));
  it("records that it is told secrets", () => {
    const asked = { ...audit, payloadSecrets: true };
    given(target)
      .when((t) => createTarget(t, asked))
      .then(added(asked));
  });
  it("is refused when its id is in use", () =>
    given(target, added(audit))
      .when((t) => createTarget(t, { ...audit, name: "other" }))
      .thenRefused("failedPrecondition", "TARGET_EXISTS"));
});

describe("patching a target", () => {
  it("records only the fields that differ", () =>
    given(target, added(audit))
      .when((t) => patchTarget(t, patch({ timeoutMs: 2_000, name: "audit" })))
      .then(changed({ timeoutMs: 2_000 })));
  it("compares with what the patches before it left", () =>
    given(target, added(audit), changed({ timeoutMs: 2_000 }))
      .when((t) => patchTarget(t, patch({ timeoutMs: 10_000, isAsync: true })))
      .then(changed({ timeoutMs: 10_000, isAsync: true })));
  it("records nothing when nothing differs", () =>
    given(target, added(audit))
      .when((t) => patchTarget(t, patch(audit)))
      .thenNothing());
  it("records nothing when nothing is asked", () =>
    given(target, added(audit))
      .when((t) => patchTarget(t, patch({})))
      .thenNothing());
  it("takes a new spelling of the name for a change", () =>
    given(target, added(audit))
      .when((t) => patchTarget(t, patch({ name: "Audit" })))
      .then(changed({ name: "Audit" })));
  it("records that the signing key was rotated, though no field differs", () =>
    given(target, added(audit))
      .when((t) => patchTarget(t, patch({}, true)))
      .then(changed({ signingKeyRotated: true })));
  it("records a rotation and the fields that differ as one event", () =>
    given(target, added(audit))
      .when((t) => patchTarget(t, patch({ timeoutMs: 2_000 }, true)))
      .then(changed({ timeoutMs: 2_000, signingKeyRotated: true })));
  it("ends what it is told with another URL, unless that is given anew", () => {
    const told = added({ ...audit, payloadSecrets: true });
    const url = "https://example.com/elsewhere";
    given(target, told)
      .when((t) => patchTarget(t, patch({ url })))
      .then(changed({ payloadSecrets: false, url }));
    given(target, told)
      .when((t) => patchTarget(t, patch({ url, payloadSecrets: true })))
      .then(changed({ url }));
    given(target, told)
      .when((t) => patchTarget(t, patch({ url: audit.url })))
      .thenNothing();
  });
  it("is refused for a target that was never there", () =>
    given(target)
      .when((t) => patchTarget(t, patch({})))
      .thenRefused("notFound", "TARGET_NOT_FOUND"));
  it("is refused once the target is removed", () =>
    given(target, added(audit), removed({ name: "audit" }))
      .when((t) => patchTarget(t, patch({})))
      .thenRefused("notFound", "TARGET_NOT_FOUND"));
});

describe("deleting a target", () => {
  it("records the name it had at last, so that a history can tell it", () =>
    given(target, added(audit), changed({ name: "second" }))
      .when(deleteTarget)
      .then(removed({ name: "second" })));
  it("is refused for a target that was never there", () =>
    given(target).when(deleteTarget).thenRefused("notFound", "TARGET_NOT_FOUND"));
  it("is refused the second time", () =>
    given(target, added(audit), removed({ name: "audit" }))
      .when(deleteTarget)
      .thenRefused("notFound", "TARGET_NOT_FOUND"));
});

describe("the state of a target", () => {
  it("is its configuration with every change, and no trace of rotations", () =>
    given(
      target,
      added(audit),
      changed({ url: "https://example.org/", signingKeyRotated: true }),
      changed({ signingKeyRotated: true }),
    ).thenState({ ...audit, url: "https://example.org/" }));
  it("is nothing once it is removed, whatever follows", () =>
    given(target, added(audit), removed({ name: "audit" }), changed({ name: "x" })).thenState(
      undefined,
    ));
});

describe("the name of a target", () => {
  const claimsOf = (type: string, payload: object) =>
    targetEvents[definition].rules.get(type)?.claims?.(payload);
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
