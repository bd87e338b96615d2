import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import type { JsonObject } from "@bufbuild/protobuf";
import { beside } from "../support/beside.ts";
import { bodyOf, type ResourcePeer, startPeer } from "../support/peer.ts";
import {
  hashOfOld,
  human,
  importPeer,
  newName,
  passwordOfOld,
  publicKey,
  recordsOfWhole,
  wholeOrg,
} from "./import-peer.ts";

let peer: ResourcePeer;
let imports: ReturnType<typeof importPeer>;
before(async () => {
  peer = await startPeer();
  imports = importPeer(peer);
});
after(() => peer[Symbol.asyncDispose]());

const canLogIn = async (user_id: string, password: string) => {
  const checks = { user: { user_id }, password: { password } };
  return (await peer.post("/sessions", { checks })).status === 201;
};

describe("a bulk import (decisions G4)", () => {
  it("creates an organization and all that is its own, and says so", async () => {
    const name = newName("fleet");
    const { job, errors, success } = await imports.bring([wholeOrg(name)]);
    assert.deepEqual(errors, []);
    assert.equal(job.state, "IMPORT_STATE_COMPLETED");
    assert.equal(job.created, String(recordsOfWhole));
    const [org] = success.orgs;
    assert.equal(org.orgId, name);
    assert.deepEqual(org.humanUserIds, [`${name}-ada`, `${name}-bob`]);
    assert.deepEqual(org.projectRoles, [`${name}-project/driver`]);
    assert.deepEqual(org.machineKeys, [`${name}-key`]);

    const { organization } = bodyOf(await peer.get(`/organizations/${name}`)).organization;
    assert.equal(organization.domain, `${name}.example`);
    const { user } = bodyOf(await peer.get(`/users/${name}-ada`)).user;
    assert.equal(user.data.display_name, "Ada L.");
    assert.equal(user.contact.phone.number, "+41791234567");
    assert.equal(user.authenticators.totps.length, 1);
    assert.ok(await canLogIn(`${name}-ada`, passwordOfOld));
    assert.equal(await canLogIn(`${name}-ada`, "another"), false);
    const grants = await peer.post("/user_grants/_search", [
      { in_user_ids: { ids: [`${name}-ada`, `${name}-bob`] } },
    ]);
    assert.equal(bodyOf(grants).result.length, 2);
    const members = await peer.post("/memberships/_search", [
      { in_user_ids: { ids: [`${name}-bob`] } },
    ]);
    assert.equal(bodyOf(members).result.length, 3);
    assert.equal(bodyOf(await peer.get(`/apps/${name}-web`)).app.client_id, `${name}-client`);
  });

  it("does not matter in which order records stand, and twice changes nothing", async () => {
    const name = newName("order");
    const { org, orgId, ...lists } = wholeOrg(name);
    const turned = Object.fromEntries(Object.entries(lists).toReversed());
    const orgs = [{ orgId: String(orgId), ...turned, org: org ?? null }];
    const { job, errors } = await imports.bring(orgs);
    assert.deepEqual(errors, []);
    assert.equal(job.created, String(recordsOfWhole));
    const events = await peer.eventCount();
    const again = await imports.bring(orgs);
    assert.deepEqual(again.errors, []);
    assert.deepEqual([again.job.created, again.job.existed], ["0", String(recordsOfWhole)]);
    assert.equal(await peer.eventCount(), events);
  });

  it("foresees in a dry run what will be, and writes nothing", async () => {
    const name = newName("fleet");
    const org: JsonObject = {
      ...wholeOrg(name),
      humanUsers: [human(`${name}-ada`), human(`${name}-bob`), human(`${name}-bob`), human("")],
      userGrants: [
        { userId: `${name}-ada`, projectId: `${name}-project`, roleKeys: ["driver"] },
        { userId: `${name}-bob`, projectId: `${name}-project`, roleKeys: ["king"] },
        { userId: "nobody", projectId: `${name}-project`, roleKeys: ["driver"] },
      ],
    };
    const again = { orgId: `${name}-2`, org: { name: `The ${name}` } };
    const same = {
      orgId: name,
      humanUsers: [{ ...human(`${name}-bob-2`, { userName: `${name}-bob` }) }],
    };
    const orgs = [org, again, same];
    const events = await peer.eventCount();
    const forecast = await imports.bring(orgs, "?dryRun=true");
    assert.equal(forecast.job.dryRun, true);
    assert.equal(await peer.eventCount(), events);
    assert.equal((await peer.get(`/organizations/${name}`)).status, 404);
    const real = await imports.bring(orgs);
    assert.deepEqual(await imports.report(forecast.job.id), await imports.report(real.job.id));
    assert.deepEqual(real.errors.map(({ reason }: { reason: string }) => reason).sort(), [
      "ORGANIZATION_NAME_TAKEN",
      "ROLE_KEY_UNKNOWN",
      "USERNAME_TAKEN",
      "USER_NOT_FOUND",
      "VALIDATION_FAILED",
    ]);
  });

  it("takes both spellings of keys, and what old exports carry along", async () => {
    const name = newName("snake");
    const body = {
      timeout: "10m",
      await_response: true,
      data_orgs: {
        orgs: [
          {
            org_id: name,
            org: { name },
            triggerActions: [],
            human_users: [
              {
                user_id: `${name}-ada`,
                user: {
                  user_name: "ada",
                  profile: { first_name: "Ada", last_name: "L", somethingElse: 1 },
                  hashed_password: { value: hashOfOld },
                },
              },
            ],
          },
        ],
      },
    };
    const { status, json } = await imports.raw(JSON.stringify(body));
    assert.equal(status, 200, JSON.stringify(json));
    assert.deepEqual(json.errors, []);
    assert.deepEqual(json.success.orgs[0].humanUserIds, [`${name}-ada`]);
    assert.ok(await canLogIn(`${name}-ada`, passwordOfOld));
  });

  it("takes lines, an organization in several of them, compressed or not", async () => {
    const name = newName("lines");
    const lines = [
      { orgId: name, org: { name } },
      { orgId: name, humanUsers: [human(`${name}-1`)] },
      { orgId: name, humanUsers: [human(`${name}-2`), human(`${name}-3`)] },
    ].map((line) => JSON.stringify(line));
    const plain = await imports.raw(`${lines.slice(0, 2).join("\n")}\n`, "", {
      "content-type": "application/x-ndjson",
    });
    assert.equal(plain.json.job?.created, "2", JSON.stringify(plain.json));
    const packed = await imports.raw(gzipSync(lines.join("\n")), "", {
      "content-encoding": "gzip",
    });
    assert.deepEqual([packed.json.job.created, packed.json.job.existed], ["2", "2"]);
  });

  it("sends nobody a mail, unless the record asks for it", async () => {
    const name = newName("told");
    const email = { email: "ada@example.test", isEmailVerified: false };
    const humanUsers = [
      human(`${name}-silent`, { email }),
      { ...human(`${name}-invited`, { email }), notify: true },
      { ...human(`${name}-asked`, { email, password: "correct horse battery" }), notify: true },
    ];
    const { errors } = await imports.bring([{ orgId: name, org: { name }, humanUsers }]);
    assert.deepEqual(errors, []);
    const sql = `select aggregate_id, type from events where type like '%code.added' and owner_id = '${name}' order by aggregate_id`;
    const { rows } = await beside(peer.app.kernel, sql);
    assert.deepEqual(rows, [
      [`${name}-asked`, "user.human.email.code.added"],
      [`${name}-invited`, "user.human.initialization.code.added"],
    ]);
  });

  it("is also at /admin/v1", async () => {
    const name = newName("admin");
    const { token } = peer.app;
    const body = { dataOrgs: { orgs: [{ orgId: name, org: { name } }] } };
    const answer = await peer.peer.rest("POST", "/admin/v1/import", body, { token });
    assert.equal(bodyOf(answer).job.created, "1");
  });
});

describe("a record that is refused", () => {
  const org = newName("refusing");
  const project = `${org}-project`;
  const user = `${org}-ada`;
  const good = newName("good");
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
    "what has no resource here": [{ oidcIdps: [{ idpId: "1" }] }, "IMPORT_KIND_UNSUPPORTED"],
  };
  let lines: Record<string, string>[];

  before(async () => {
    const first = { orgId: org, org: { name: org }, humanUsers: [human(user)] };
    const projects = [{ projectId: project, project: { name: "Fleet" } }];
    const machineUsers = [{ userId: `${org}-bot`, user: { userName: "bot" } }];
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
    // His name is free again.
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
      const events = await peer.eventCount();
      const answer = await imports.raw(body);
      assert.equal(answer.status, 400, JSON.stringify(answer.json));
      assert.equal(answer.reason, reason, JSON.stringify(answer.json));
      assert.match(String(answer.violation.field), /^data/);
      assert.equal(await peer.eventCount(), events);
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
