import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { modules } from "../../src/app/modules.ts";
import { typesOf } from "../../src/eventstore/eventstore.ts";

/**
 * The public names of all events (decisions C8): conditions match on them and stored logs hold them. A name may be
 * added here; one that stands here is never changed and never removed.
 */
const frozen = [
  "execution.removed",
  "execution.set",
  "feature.instance.multitenancy_resources_api.reset",
  "feature.instance.multitenancy_resources_api.set",
  "feature.instance.multitenancy_settings.reset",
  "feature.instance.multitenancy_settings.set",
  "feature.instance.oidc_token_exchange.reset",
  "feature.instance.oidc_token_exchange.set",
  "feature.system.multitenancy_resources_api.reset",
  "feature.system.multitenancy_resources_api.set",
  "feature.system.multitenancy_settings.reset",
  "feature.system.multitenancy_settings.set",
  "feature.system.oidc_token_exchange.reset",
  "feature.system.oidc_token_exchange.set",
  "instance.added",
  "instance.contents.removed",
  "instance.default.org.set",
  "instance.domain.added",
  "instance.domain.primary.set",
  "instance.iam.project.set",
  "instance.member.added",
  "org.added",
  "org.contents.removed",
  "org.domain.added",
  "org.domain.primary.set",
  "org.domain.verified",
  "project.added",
  "target.added",
  "target.changed",
  "target.removed",
  "user.human.added",
  "user.human.password.changed",
  "user.machine.added",
  "user.pat.added",
  "user_schema.created",
  "user_schema.deactivated",
  "user_schema.deleted",
  "user_schema.reactivated",
  "user_schema.updated",
];

const on = {
  multitenancy_resources_api: true,
  multitenancy_settings: true,
  oidc_token_exchange: true,
};
const names = typesOf(modules(on).flatMap(({ events }) => events));

describe("the names of events", () => {
  it("are these", () => assert.deepEqual(names, frozen));
  it("are unique", () => assert.equal(new Set(names).size, names.length));
  it("are dotted words in lower case, ending in the past tense", () => {
    for (const name of names) assert.match(name, /^[a-z_]+(\.[a-z_]+)*\.([a-z_]+ed|set|reset)$/);
  });
});
