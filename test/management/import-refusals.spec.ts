// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import type { JsonObject } from "@bufbuild/protobuf";
import { imports as importTable } from "../../src/management/import/tables.ts";
import { type ResourcePeer, startPeer } from "../support/peer.ts";
import { human, importPeer, newName, publicKey } from "./import-peer.ts";

let peer: ResourcePeer;
let imports: ReturnType<typeof importPeer>;
before(async () => {
  peer = await startPeer();
  imports = importPeer(peer);
});
after(() => peer[Symbol.asyncDispose]());

describe("a record that is refused", () => {
  const org = newName("refusing");
  const project = `${org}-project`;
  const user = `${org}-ada`;
  const good = newName("good");
  const jwt = {
    name: "Tokens",
    issuer: "https://tokens.example",
    headerName: "x-token",
    jwtEndpoint: "https://tokens.example/login",
  };
  const hashed = (value: string) => ({
    humanUsers: [human("other", { hashedPassword: { value } })],
  });
  // One record each, so that the place in the report is that of the case.
  const refused: Record<string, [JsonObject, reason: string, field?: string]> = {
    "a user whose name is taken": [
      { humanUsers: [human("other", { userName: user })] },
      "USERNAME_TAKEN",
    ],
    "a user without a name": [
      { humanUsers: [human("other", { userName: "" })] },
      "VALIDATION_FAILED",
      "user.user_name",
    ],
    "a user with a weak password": [
      { humanUsers: [human("other", { password: "abc" })] },
      "PASSWORD_POLICY",
      "user.password",
    ],
    "a text that no store takes": [
      { humanUsers: [human("other", { userName: "a\u0000b" })] },
      "VALIDATION_FAILED",
      "user.user_name",
    ],
    "D59: an unknown hash": [hashed("$rot13$abc$def"), "PASSWORD_HASH_UNKNOWN"],
    "D59: a hash of cost 31": [hashed(`$2b$31$${"a".repeat(53)}`), "PASSWORD_HASH_TOO_COSTLY"],
    "D59: 1 MB of hash": [hashed("$2b$10$".padEnd(1_000_000, "a")), "VALIDATION_FAILED"],
    "D47: a role that nobody knows": [
      { orgMembers: [{ userId: user, roles: ["KING"] }] },
      "ROLE_UNKNOWN",
      "roles",
    ],
    "D47: a grant of roles the project lacks": [
      { userGrants: [{ userId: user, projectId: project, roleKeys: ["king"] }] },
      "ROLE_KEY_UNKNOWN",
      "role_keys",
    ],
    "a grant of an unknown project": [
      { userGrants: [{ userId: user, projectId: "404", roleKeys: [] }] },
      "PROJECT_NOT_FOUND",
    ],
    "a member whom nobody knows": [
      { orgMembers: [{ userId: "404", roles: ["ORG_OWNER"] }] },
      "USER_NOT_FOUND",
    ],
    "a key that is none": [
      { machineKeys: [{ keyId: "1", userId: `${org}-bot`, publicKey: "YWJj" }] },
      "PUBLIC_KEY_INVALID",
      "public_key",
    ],
    "a key of a person": [
      { machineKeys: [{ keyId: "1", userId: user, publicKey }] },
      "USER_NOT_MACHINE",
    ],
    "what is no record": [{ humanUsers: [5] }, "INVALID_JSON_FIELD"],
    "what has no resource here": [{ actions: [{ id: "1" }] }, "IMPORT_KIND_UNSUPPORTED"],
    "a provider without what it is": [{ oidcIdps: [{ idpId: "1" }] }, "VALIDATION_FAILED", "idp"],
    "a provider at an address that must not be called": [
      { jwtIdps: [{ idpId: "1", idp: { ...jwt, keysEndpoint: "http://169.254.169.254/keys" } }] },
      "TARGET_URL_DENIED",
      "idp.config.keys_endpoint",
    ],
    "a text that nobody asks for": [
      { loginTexts: [{ language: "de", texts: { "no.such": "a" } }] },
      "TEXT_KEY_UNKNOWN",
      'texts["no.such"].key',
    ],
    "texts in a language that nobody speaks": [
      { loginTexts: [{ language: "xx", texts: { "loginName.title": "a" } }] },
      "LANGUAGE_UNSUPPORTED",
    ],
    "a message in a language that nobody speaks": [
      { initMessages: [{ language: "xx", subject: "Welcome" }] },
      "LANGUAGE_UNSUPPORTED",
      "language",
    ],
    "a message that names a value there is none of": [
      { initMessages: [{ language: "de", text: "Hallo {{.FirstName}}" }] },
      "TEXT_INVALID",
      "text",
    ],
    "a colour that is none": [
      { labelPolicy: { primaryColor: "red" } },
      "VALIDATION_FAILED",
      "primary_color",
    ],
    "a recovery code that is a hash": [
      { humanUsers: [human("other", { recoveryCodes: ["$2b$10$abcdefgh"] })] },
      "VALIDATION_FAILED",
      "user.recovery_codes[0]",
    ],
    "an external ID of somebody else": [
      { humanUsers: [{ ...human("other"), externalId: "B-1" }] },
      "EXTERNAL_ID_TAKEN",
      "",
    ],
    "an external ID of more than 200 characters": [
      { humanUsers: [{ ...human("other"), externalId: "e".repeat(201) }] },
      "VALIDATION_FAILED",
      "external_id",
    ],
    "a recovery code that is too short": [
      { humanUsers: [human("other", { recoveryCodes: ["a-b-c-d-e"] })] },
      "RECOVERY_CODE_INVALID",
      "recovery_codes[0]",
    ],
  };
  let lines: Record<string, string>[];

  before(async () => {
    const first = { orgId: org, org: { name: org }, humanUsers: [human(user)] };
    const projects = [{ projectId: project, project: { name: "Fleet" } }];
    const machineUsers = [{ userId: `${org}-bot`, user: { userName: "bot" }, externalId: "B-1" }];
    await imports.bring([{ ...first, projects, machineUsers }]);
    const records = Object.values(refused).map(([more]) => ({ orgId: org, ...more }));
    const rest = { orgId: org, humanUsers: [human(good)] };
    const { job, errors } = await imports.bring([...records, rest]);
    assert.equal(job.refused, String(records.length));
    assert.equal(errors.length, records.length);
    lines = await imports.report(job.id);
  });

  for (const [at, [what, [, reason, field]]] of Object.entries(refused).entries()) {
    it(`${what}: is told with its reason`, () => {
      const line = lines.find(({ position }) => position === String(at));
      assert.equal(line?.["outcome"], "IMPORT_OUTCOME_REFUSED");
      assert.equal(line?.["reason"], reason);
      if (field !== undefined) assert.equal(line?.["field"], field);
      assert.equal(line?.["orgId"], org);
      assert.notEqual(line?.["message"], "");
    });
  }

  it("is told with the id that it had, also where it could not be read", async () => {
    const email = { email: "no address" };
    const { errors } = await imports.bring([
      {
        orgId: org,
        humanUsers: [human("named", { email }), human("nul", { userName: "a\u0000b" }), 5],
        machineUsers: [{ userId: 17, user: {} }],
        userMetadata: [{ user_id: "named", key: "colour", value: "%" }],
        projectRoles: [{ projectId: "p", roleKey: "king", unknown: [], displayName: 5 }],
        orgMembers: [{ userId: "\u0000", roles: [1] }],
        machineKeys: [{ keyId: "k".repeat(201), userId: "named" }],
      },
    ]);
    const told = errors.map(({ type, id }: Record<string, string>) => `${type} ${id}`);
    assert.deepEqual(told.sort(), [
      "humanUsers ",
      "humanUsers named",
      "humanUsers nul",
      "machineKeys ",
      "machineUsers 17",
      "orgMembers ",
      "projectRoles p/king",
      "userMetadata named/colour",
    ]);
  });

  it("does not hold up the rest", async () => {
    assert.equal((await peer.get(`/users/${good}`)).status, 200);
    assert.equal((await peer.get("/users/other")).status, 404);
  });

  it("ids of another organization are nobody's to take", async () => {
    const other = newName("other");
    const wanted = {
      orgId: other,
      org: { name: other },
      humanUsers: [human(user)],
      projects: [{ projectId: project, project: { name: "Mine" } }],
      userMetadata: [{ userId: user, key: "a", value: "YQ==" }],
      projectRoles: [{ projectId: project, roleKey: "king" }],
    };
    const { errors } = await imports.bring([wanted]);
    assert.deepEqual(
      errors.map(({ type, reason }: Record<string, string>) => `${type} ${reason}`).sort(),
      [
        "humanUsers USER_ID_TAKEN",
        "projectRoles PROJECT_NOT_FOUND",
        "projects PROJECT_ID_TAKEN",
        "userMetadata USER_NOT_FOUND",
      ],
    );
  });

  it("leaves nothing of itself: a person with a grant that is refused is not there", async () => {
    const id = newName("partly");
    const record = {
      ...human(id),
      metadata: [{ key: "a", value: "YQ==" }],
      grants: [{ projectId: "404" }],
    };
    const { job } = await imports.bring([{ orgId: org, humanUsers: [record, human(`${id}-2`)] }]);
    assert.deepEqual([job.created, job.refused], ["1", "1"]);
    assert.equal((await peer.get(`/users/${id}`)).status, 404);
    // Their name is free again.
    const later = await imports.bring([
      { orgId: org, humanUsers: [human(`${id}-3`, { userName: id })] },
    ]);
    assert.deepEqual(later.errors, []);
  });

  it("of an organization that does not exist, and is not in the import, is refused", async () => {
    const { errors } = await imports.bring([{ orgId: newName("none"), humanUsers: [human("x")] }]);
    assert.equal(errors[0].reason, "ORGANIZATION_NOT_FOUND");
  });
});

describe("an import that cannot be read", () => {
  /** How many imports there are. */
  const kept = () => {
    const { db } = peer.app.kernel;
    return db.read
      .select({ id: db.table(importTable).id })
      .from(db.table(importTable))
      .then((rows) => rows.length);
  };
  const record = (size: number) => human("a", { password: "x".repeat(size) });
  const cases: Record<string, [body: string, reason: string]> = {
    empty: ["", "IMPORT_EMPTY"],
    "without records": ['{"dataOrgs":{"orgs":[]}}', "IMPORT_EMPTY"],
    "broken off": ['{"dataOrgs":{"orgs":[{"orgId":"a"', "IMPORT_MALFORMED"],
    "broken off in a text": ['{"dataOrgs":{"orgs":[{"orgId":"a', "IMPORT_MALFORMED"],
    "no JSON": ["hello", "IMPORT_MALFORMED"],
    "closed twice": ['{"dataOrgs":{"orgs":[]}}}', "IMPORT_MALFORMED"],
    "a list": ["[1,2]", "IMPORT_MALFORMED"],
    "without its organization": [
      '{"dataOrgs":{"orgs":[{"humanUsers":[{}]}]}}',
      "IMPORT_ORG_ID_MISSING",
    ],
    "with an empty organization id": ['{"orgId":"","humanUsers":[{}]}', "IMPORT_ORG_ID_MISSING"],
    "with blanks for an organization id": [
      '{"orgId":"a b","humanUsers":[{}]}',
      "IMPORT_ORG_ID_INVALID",
    ],
    "from elsewhere": ['{"dataOrgsS3":{"path":"a"}}', "IMPORT_SOURCE_UNSUPPORTED"],
    "with a record above 1 MiB": [
      JSON.stringify({ orgId: "a", humanUsers: [record(1 << 20)] }),
      "IMPORT_RECORD_TOO_LARGE",
    ],
    "with a wrong time": [
      '{"timeout":"soon","orgId":"a","org":{"name":"a"}}',
      "IMPORT_OPTION_INVALID",
    ],
    "with a wrong flag": [
      '{"dryRun":"yes","orgId":"a","org":{"name":"a"}}',
      "IMPORT_OPTION_INVALID",
    ],
  };
  for (const [what, [body, reason]] of Object.entries(cases)) {
    it(`${what} is refused whole`, async () => {
      const [events, known] = [await peer.eventCount(), await kept()];
      const answer = await imports.raw(body);
      assert.equal(answer.status, 400, JSON.stringify(answer.json));
      assert.equal(answer.reason, reason, JSON.stringify(answer.json));
      assert.match(String(answer.violation.field), /^data/);
      assert.equal(await peer.eventCount(), events);
      // Nothing of it happens later either.
      assert.equal(await kept(), known);
    });
  }

  it("in a compression that it is not, or that nobody knows, is refused", async () => {
    const body = JSON.stringify({ orgId: "a", org: { name: "a" } });
    const wrong = await imports.raw(body, "", { "content-encoding": "gzip" });
    assert.deepEqual([wrong.status, wrong.reason], [400, "ENCODING_MALFORMED"]);
    const cut = await imports.raw(gzipSync(body).subarray(0, -9), "", {
      "content-encoding": "gzip",
    });
    assert.deepEqual([cut.status, cut.reason], [400, "ENCODING_MALFORMED"]);
    const unknown = await imports.raw(body, "", { "content-encoding": "zstd" });
    assert.deepEqual([unknown.status, unknown.reason], [501, "ENCODING_UNSUPPORTED"]);
  });

  it("may only be sent by who administers the instance", async () => {
    const { token } = await peer.addMember(await peer.addOrganization(), ["ORG_OWNER"]);
    const { status, refusal } = await imports.call("POST", "/import", {}, { token });
    assert.equal(status, 403);
    assert.equal(refusal?.reason, "PERMISSION_MISSING");
  });
});
