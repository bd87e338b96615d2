// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { bodyOf, type ResourcePeer, startPeer } from "../support/peer.ts";
import { systemCaller } from "../support/system-caller.ts";
import { hashOfOld, human, importPeer, newName, passwordOfOld, wholeOrg } from "./import-peer.ts";

const operator = systemCaller();
let here: ResourcePeer;
let system: string;
before(async () => {
  here = await startPeer({ env: operator.env });
  system = await operator.tokenFor(here.app.made.issuer);
});
after(() => here[Symbol.asyncDispose]());

/** What is exported, as the text that an import takes. */
async function exported(
  peer: ResourcePeer,
  request: JsonObject,
  { token = peer.app.token, path = "/management/v1/export" } = {},
): Promise<string> {
  const answer = await fetch(`${peer.app.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      host: "localhost:8080",
      "content-type": "application/json",
    },
    body: JSON.stringify(request),
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  assert.equal(answer.headers.get("content-type"), "application/x-ndjson");
  return text;
}

/** Tells of long texts where they part, not what they are. */
function assertSameText(actual: string, expected: string): void {
  let at = 0;
  while (at < expected.length && actual[at] === expected[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 300), at + 300);
  assert.equal(around(actual), around(expected), `they part at ${at}`);
  assert.equal(actual.length, expected.length);
}

describe("an export (G4)", () => {
  it("imported elsewhere and exported there gives the same text", async () => {
    const name = newName("moving");
    const { bring } = importPeer(here);
    const crowd = Array.from({ length: 600 }, (_, nth) =>
      human(`${name}-${String(nth).padStart(4, "0")}`),
    );
    const off = { ...human(`${name}-off`), inactive: true, data: { nickname: "Off" } };
    const schemaless = {
      userId: `${name}-bare`,
      user: { userName: "bare", phone: { phone: "+41791234567" } },
    };
    const more = { orgId: name, humanUsers: [...crowd, off, schemaless] };
    const first = await bring([wholeOrg(name), more]);
    assert.deepEqual(first.errors, []);
    const text = await exported(here, { orgIds: [name] });
    assert.ok(!text.includes(hashOfOld), "secrets are not in it");
    assert.ok(!text.includes("JBSWY3DPEHPK3PXP"));
    assert.ok(!text.includes("never-exported"));
    const has = [
      ...text.matchAll(/"(oidcIdps|jwtIdps|labelPolicy|secondFactors|loginTexts|userLinks)"/g),
    ];
    assert.equal(new Set(has.map(([, list]) => list)).size, 6, text.slice(0, 4_000));

    await using there = await startPeer();
    const imported = await importPeer(there).raw(text);
    assert.equal(imported.status, 200, JSON.stringify(imported.json));
    assert.deepEqual(imported.json.errors, []);
    // All but what an instance has from its first start.
    const excludedOrgIds = [there.app.made.organization_id];
    assertSameText(await exported(there, { excludedOrgIds }), text);
    const admin = { path: "/admin/v1/export" };
    assertSameText(await exported(there, { orgIds: [name] }, admin), text);

    // What is there already is left alone.
    const again = await importPeer(there).raw(text);
    assert.deepEqual([again.json.job.created, again.json.errors], ["0", []]);
  });

  it("gives hashes and one-time secrets to system callers, as far as others can use them", async () => {
    const name = newName("secrets");
    await importPeer(here).bring([wholeOrg(name)]);
    const withAll = { orgIds: [name], withPasswords: true, withOtp: true };
    const text = await exported(here, withAll, { token: system });
    assert.ok(text.includes(JSON.stringify(hashOfOld)));
    assert.ok(text.includes("JBSWY3DPEHPK3PXP"));
    await using there = await startPeer();
    const { json } = await importPeer(there).raw(text);
    assert.deepEqual(json.errors, []);
    const checks = {
      user: { user_id: `${name}-ada` },
      password: { password: passwordOfOld },
    };
    bodyOf(await there.post("/sessions", { checks }), 201);
    // They have logged in: their password is hashed with the key of that instance now, which never leaves it.
    const login = { user: { user_id: `${name}-ada` }, password: { password: passwordOfOld } };
    bodyOf(await here.post("/sessions", { checks: login }), 201);
    const later = await exported(here, withAll, { token: system });
    assert.ok(!later.includes("hashedPassword"), "a hash of our own is not exported");
  });

  it("refuses secrets to others, and organizations that do not exist", async () => {
    const { call } = importPeer(here);
    for (const wanted of [{ withPasswords: true }, { withOtp: true }]) {
      const { status, refusal } = await call("POST", "/export", wanted);
      assert.equal(status, 403);
      assert.equal(refusal?.reason, "EXPORT_SECRETS_DENIED");
    }
    const unknown = await call("POST", "/export", { orgIds: ["404"] });
    assert.equal(unknown.status, 404);
    assert.equal(unknown.refusal?.reason, "ORGANIZATION_NOT_FOUND");
    const { token } = await here.addMember(await here.addOrganization(), ["ORG_OWNER"]);
    const { status, refusal } = await call("POST", "/export", {}, { token });
    assert.equal(status, 403);
    assert.equal(refusal?.reason, "PERMISSION_MISSING");
  });
});
