// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { folders, holdersOf } from "./holders.ts";

/**
 * What goes by deleting its folders and the lines of the composition that name it (decision 0386). `npm run delete-test` has the
 * compiler say which lines those are.
 */
const free = [
  "account",
  "console-server",
  "executor",
  "management",
  "notify",
  "oidc",
  "resources/domain",
  "resources/signin",
  "resources/sms",
  "resources/smtp",
  "resources/userschema",
  "resources/webkey",
  "settings/branding",
  "settings/feature",
  "settings/language",
  "settings/oidc",
  "settings/password",
  "settings/security",
  "settings/text",
  "setup",
];

describe("a slice that can be taken out", () => {
  it("is named by nothing but its own files and the composition", () => {
    const held = free.flatMap((slice) =>
      holdersOf(slice).map(({ file, names }) => `${slice}: ${file} imports ${names}`),
    );
    assert.deepEqual(held, []);
  });

  it("is on the list, which has at least 20", () => {
    assert.deepEqual(
      folders.filter((slice) => holdersOf(slice).length === 0),
      free,
    );
    assert.ok(free.length >= 20);
  });

  it("is told from one that others need", () => {
    const holders = holdersOf("resources/org").map(({ file }) => file);
    assert.ok(holders.includes("src/resources/domain/handlers.ts"));
    assert.ok(!holders.includes("src/app/deps.ts"));
    const ofSchema = holdersOf("resources/event").map(({ file }) => file);
    assert.ok(ofSchema.includes("proto/idsvc/resources/user/v3alpha/user_requests.proto"));
  });
});
