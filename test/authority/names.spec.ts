// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { createRateLimiter } from "../../src/api/interceptors/rate-limit.ts";
import type { Caller } from "../../src/authz/context.ts";
import { examine } from "../../src/app/examine.ts";
import { app as appOf } from "../../src/resources/app/index.ts";
import { organization } from "../../src/resources/org/index.ts";
import { projects } from "../../src/resources/project/index.ts";
import {
  addPersonalAccessToken,
  addUser,
  builtInData,
  clientIdClaim,
  namedTypes,
  personalAccessTokenSecret,
  user,
  userEvents,
} from "../../src/resources/user/index.ts";
import { addSession, session } from "../../src/resources/session/session.ts";
import { human, importPeer } from "../management/import-peer.ts";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";

const peer = await startPeer();
const { app, post, get, remove, addOrganization } = peer;
after(() => peer[Symbol.asyncDispose]());
const { kernel, made, token } = app;
const imports = importPeer(peer);
const { instance_id: instanceId, organization_id: defaultId } = made;

const named = (kind = "name") => uniqueName(kind).replaceAll(" ", "-");
const newUser = (user_id: string): JsonObject => ({
  user_id,
  username: named("user"),
  data: { given_name: "A", family_name: "B" },
});
/** Creates a user by each protocol in turn; what is refused is refused by all of them. */
async function refusedBoth(user_id: string, expected: { code: number; reason: string }) {
  const field = expected.code === 3 ? { field: "user.user_id" } : {};
  const wanted = newUser(user_id);
  assertRefused((await post("/users", wanted)).refusal, { ...expected, ...field }, user_id);
  const method = UserService.method.createUser;
  const request = fromJson(method.input, { user: wanted });
  const outcome = await peer.peer.call("grpc", method, request, { token });
  assertRefused(outcome, { ...expected, ...field }, user_id);
}
const mail = () => ({ email: { email: `${named()}@example.test`, isEmailVerified: true } });
/** An app whose client id was chosen. */
async function importedApp() {
  const [projectId, orgId, appId, clientId] = [named("p"), named("o"), named("a"), named("c")];
  const brought = await imports.bring([
    {
      orgId,
      org: { name: named("org") },
      projects: [{ projectId, project: { name: "P" } }],
      apiApps: [{ appId, app: { projectId, name: "A", clientId } }],
    },
  ]);
  assert.deepEqual(brought.errors ?? [], []);
  return { projectId, orgId, appId, clientId };
}
const machine = async (more: JsonObject = {}) => {
  const wanted = { schema_id: "machine", username: named("m"), data: { name: "M" }, ...more };
  return String(bodyOf(await post("/users", wanted), 201).details.id);
};

describe("ids that callers choose (J7)", () => {
  for (const name of ["0", "system", "anonymous", "bootstrap", "idsvc"]) {
    it(`are never ${name}, nor begin with it and a colon`, async () => {
      await refusedBoth(name, { code: 3, reason: "ID_RESERVED" });
      await refusedBoth(`${name}:login`, { code: 3, reason: "ID_RESERVED" });
      await refusedBoth(name === "0" ? "0:" : name.toUpperCase(), {
        code: 3,
        reason: "ID_RESERVED",
      });
    });
  }

  it("are of letters, digits and . _ - @ + : | in NFC", async () => {
    for (const id of [
      ".",
      "..",
      "a b",
      "a/b",
      " a",
      "a\u200b",
      "a\u0000",
      "e\u0301",
      "a'",
      "a%",
      "\u0301a",
      "1\u0301",
      "a\u034f",
      "a\ufe0f",
      "a\u20dd",
    ]) {
      await refusedBoth(id, { code: 3, reason: "ID_MALFORMED" });
    }
    for (const id of [
      "\u00e9t\u00e9",
      "auth0|a.b_c-d@e+f:g",
      "systems",
      "systemic:x",
      "...",
      "\u4f60",
      "\u0928\u092e\u0938\u094d\u0924\u0947",
      "\u0e17\u0e35\u0e48",
      "q\u0301",
    ]) {
      const chosen = `${id}${named("").replaceAll(" ", "")}`;
      assert.equal(bodyOf(await post("/users", newUser(chosen)), 201).details.id, chosen);
    }
  });

  it("are not of digits alone", () => refusedBoth("12345", { code: 3, reason: "ID_ALL_DIGITS" }));

  it("are no longer than 200 characters", () =>
    refusedBoth("a".repeat(201), { code: 3, reason: "VALIDATION_FAILED" }));
});

describe("an id is never of two things (J7)", () => {
  const by = { instanceId, editorId: "test", service: "test", clientId: "", requestId: "test" };

  it("the guard knows the types by their names", () =>
    assert.deepEqual(
      [...namedTypes],
      [user.type, projects.aggregate.type, appOf.type, organization.type],
    ));

  it("an id that a user, organization, project, app or client has or had is taken", async () => {
    const ids = {
      user: named("u"),
      org: named("o"),
      project: named("p"),
      app: named("a"),
      client: named("c"),
    };
    const data = [
      {
        orgId: ids.org,
        org: { name: named("org") },
        projects: [{ projectId: ids.project, project: { name: "P" } }],
        apiApps: [
          { appId: ids.app, app: { projectId: ids.project, name: "A", clientId: ids.client } },
        ],
      },
    ];
    assert.deepEqual((await imports.bring(data)).errors ?? [], []);
    bodyOf(await post("/users", newUser(ids.user)), 201);
    for (const id of Object.values(ids))
      await refusedBoth(id, { code: 6, reason: "USER_ID_TAKEN" });
    bodyOf(await remove(`/users/${ids.user}`));
    bodyOf(await remove(`/organizations/${ids.org}`));
    for (const id of [ids.user, ids.org]) {
      await refusedBoth(id, { code: 6, reason: "USER_ID_TAKEN" });
    }
  });

  it("the client id of an app that an older release deleted is taken too, for users and for clients", async () => {
    const { orgId, appId, clientId } = await importedApp();
    bodyOf(await remove(`/apps/${appId}`));
    // That release gave the claim back.
    await kernel.db.commit({
      instanceId,
      expect: [],
      events: [],
      changes: [],
      claims: [
        {
          op: "release",
          scope: instanceId,
          kind: clientIdClaim,
          holderType: appOf.type,
          holderId: appId,
        },
      ],
    });
    await refusedBoth(clientId, { code: 6, reason: "USER_ID_TAKEN" });
    await refusedBoth(clientId.toUpperCase(), { code: 6, reason: "USER_ID_TAKEN" });
    const id = await machine({ username: clientId });
    const expected = { code: 6, reason: "CLIENT_ID_TAKEN" };
    assertRefused((await post(`/users/${id}/secret`)).refusal, expected);
    const projectId = named("p");
    const brought = await imports.bring([
      {
        orgId,
        projects: [{ projectId, project: { name: "P" } }],
        apiApps: [{ appId: named("a"), app: { projectId, name: "A", clientId } }],
      },
    ]);
    assert.deepEqual(
      brought.errors.map(({ type, reason }: Record<string, string>) => `${type} ${reason}`),
      ["apiApps CLIENT_ID_TAKEN"],
    );
  });

  it("an import brings ids of digits, and none that is a name of the service or of something else", async () => {
    const [orgId, projectId] = [named("org"), String(10n ** 17n + BigInt(Date.now()))];
    const brought = await imports.bring([
      {
        orgId,
        org: { name: orgId },
        projects: [{ projectId, project: { name: "P" } }],
        humanUsers: [human("system:login", mail()), human("a b", mail()), human(projectId)],
        machineUsers: [{ userId: "idsvc", user: { userName: named("m"), name: "M" } }],
        apiApps: [
          { appId: orgId, app: { projectId, name: "A" } },
          { appId: named("app"), app: { projectId, name: "B", clientId: projectId } },
        ],
      },
      { orgId: "system", org: { name: named("org") } },
    ]);
    assert.deepEqual(
      brought.errors.map(({ type, reason }: Record<string, string>) => `${type} ${reason}`).sort(),
      [
        "apiApps APP_ID_TAKEN",
        "apiApps CLIENT_ID_IS_ID",
        "humanUsers ID_MALFORMED",
        "humanUsers ID_RESERVED",
        "humanUsers USER_ID_TAKEN",
        "machineUsers ID_RESERVED",
        "org ID_RESERVED",
      ],
    );
    bodyOf(await get(`/projects/${projectId}`));
  });

  it("a machine has no client id that is an id, or a name of the service", async () => {
    const organizationId = await addOrganization();
    const method = UserService.method.setSecret;
    for (const username of [organizationId, made.admin.user_id, "system:login", "idsvc"]) {
      const id = await machine({ username });
      const expected = { code: 9, reason: "CLIENT_ID_IS_ID" };
      assertRefused((await post(`/users/${id}/secret`)).refusal, expected, username);
      assertRefused(await peer.peer.call("grpc", method, { id }, { token }), expected, username);
    }
    bodyOf(await post(`/users/${await machine()}/secret`));
  });

  it("usernames neither begin nor end with white space", async () => {
    for (const username of [" a", "a ", "\u00a0a"]) {
      const refused = await post("/users", { ...newUser(named("w")), username });
      const expected = { code: 3, reason: "VALIDATION_FAILED", field: "user.username" };
      assertRefused(refused.refusal, expected, username);
    }
  });

  it("of two who take one id at once, one gets it", async () => {
    const id = named("race");
    const answers = await Promise.all([1, 2, 3].map(() => post("/users", newUser(id))));
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [201, 409, 409],
    );
  });

  it("a user of an older store who is called as the service is is not the service", async () => {
    // As an earlier build let callers choose.
    const id = "system:login";
    const secret = await kernel.events.transact(by, async (tx) => {
      const loaded = tx.begin(user, id);
      const data = builtInData("human", { given_name: "A" });
      const added = addUser(loaded, { ...data, organizationId: defaultId, username: named("old") });
      tx.record(user, loaded, added, { type: "org", id: defaultId });
      tx.record(user, loaded, addPersonalAccessToken(loaded.state, "old-token"));
      const at = { instanceId, userId: id };
      const kept = await personalAccessTokenSecret(kernel.secrets, at, {
        id: "old-token",
        createdAt: tx.now,
      });
      tx.write(kept.change);
      return kept.token;
    });
    const theirs = await kernel.events.transact(
      { ...by, editorId: id, service: "login" },
      async (tx) => {
        const loaded = tx.begin(session, kernel.newId());
        tx.record(session, loaded, addSession(), { type: "instance", id: instanceId });
        return loaded.id;
      },
    );
    const listed = bodyOf(await post("/sessions/_search", [], { token: secret }));
    assert.deepEqual(listed.result ?? [], []);
    const missing = { code: 5, reason: "SESSION_NOT_FOUND" };
    assertRefused((await get(`/sessions/${theirs}`, { token: secret })).refusal, missing);
    const method = SessionService.method.getSession;
    const outcome = await peer.peer.call("grpc", method, { id: theirs }, { token: secret });
    assertRefused(outcome, missing);

    bodyOf(await peer.patch(`/users/${id}`, { data: { given_name: "B" } }, { token: secret }));
    const events = await kernel.events.read({ instanceId, aggregate: { type: "user", id } });
    assert.equal(events.at(-1)?.editorId, "user/system:login");

    const { concerns } = await examine(kernel);
    const [concern] = concerns.filter(({ name }) => name === "ids_that_are_refused");
    assert.deepEqual(concern?.some, [`${instanceId}/${id}`]);
  });

  it("no user shares the budget of a system caller, whatever they are called", () => {
    const limits = { caller: 1, callerChanges: 1, instance: 0, instanceChanges: 0 };
    const limit = createRateLimiter(limits);
    const isUser = { kind: "user", organizationId: "1", tokenKind: "pat" } as const;
    const callers: Caller[] = [
      { kind: "system", name: "operator" },
      { ...isUser, userId: "system:operator" },
      { ...isUser, userId: "operator" },
    ];
    for (const caller of callers) limit({ instanceId, caller }, true);
    for (const caller of callers) {
      assert.throws(() => limit({ instanceId, caller }, true), { reason: "RATE_LIMITED" });
    }
  });

  it("a client id that an app had is nobody's any more", async () => {
    const { projectId, orgId, appId, clientId: client } = await importedApp();
    bodyOf(await remove(`/apps/${appId}`));
    await refusedBoth(client, { code: 6, reason: "USER_ID_TAKEN" });
    const apiApps = [{ appId: named("app"), app: { projectId, name: "B", clientId: client } }];
    const brought = await imports.bring([{ orgId, apiApps }]);
    assert.deepEqual(
      brought.errors.map(({ type, reason }: Record<string, string>) => `${type} ${reason}`),
      ["apiApps CLIENT_ID_TAKEN"],
    );
    const id = await machine({ username: client });
    const expected = { code: 6, reason: "CLIENT_ID_TAKEN" };
    assertRefused((await post(`/users/${id}/secret`)).refusal, expected);
    const method = UserService.method.setSecret;
    assertRefused(await peer.peer.call("grpc", method, { id }, { token }), expected);
  });

  it("doctor tells of client ids and usernames that would not be taken today", async () => {
    // As earlier builds let callers choose.
    const before = (await examine(kernel)).concerns.map(({ name }) => name);
    const [id, spaced] = [kernel.newId(), kernel.newId()];
    const organizationId = defaultId;
    await kernel.events.transact(by, async (tx) => {
      const owner = { type: "org", id: organizationId } as const;
      for (const [each, username] of [
        [id, organizationId],
        [spaced, ` ${named("spaced")}`],
      ] as const) {
        const loaded = tx.begin(user, each);
        const data = builtInData("machine", { name: "M" });
        tx.record(user, loaded, addUser(loaded, { ...data, organizationId, username }), owner);
        if (each !== id) continue;
        const secret = userEvents["machine.secret.set"]({ clientId: organizationId });
        tx.record(user, loaded, [secret]);
      }
    });
    const { concerns } = await examine(kernel);
    const some = (name: string) => concerns.find((concern) => concern.name === name)?.some;
    assert.ok(!before.includes("client_ids_that_are_refused"));
    assert.ok(!before.includes("usernames_that_are_refused"));
    assert.deepEqual(some("client_ids_that_are_refused"), [`${instanceId}/${organizationId}`]);
    assert.deepEqual(some("usernames_that_are_refused"), [`${instanceId}/${spaced}`]);
  });
});
