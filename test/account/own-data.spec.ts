// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  type DescMethod,
  fromJson,
  getOption,
  type JsonObject,
  type JsonValue,
  toJson,
} from "@bufbuild/protobuf";
import { method as methodOptions } from "#gen/idsvc/options/v1/options_pb.ts";
import { samples, services } from "../api/samples.ts";
import type { Sample } from "../api/samples/sample.ts";
import { addPersonNamed, authorizeUrl, signIn } from "../support/login.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { type Outcome, pathOf, type Protocol } from "../support/protocols.ts";
import { assertRefused } from "../support/refusal.ts";
import { sessionTokenFor } from "../support/session-token.ts";
import { userAgent } from "../support/user-agent.ts";

const ownApi = "openid offline_access urn:idsvc:iam:org:project:id:idsvc:aud";
const protocol: Protocol = "connect-json";

let peer: OidcPeer;
let client: MadeClient;
before(async () => {
  peer = await startOidc();
  client = await peer.addClient();
});
after(() => peer[Symbol.asyncDispose]());

type Sampled = { method: DescMethod; sample: Sample };
const optionsOf = (method: DescMethod) => getOption(method, methodOptions);
const sampled: readonly Sampled[] = services
  .flatMap(({ methods }) => methods)
  .flatMap((each) => {
    const sample = samples[pathOf(each)];
    return sample === undefined ? [] : [{ method: each, sample }];
  });
/** What people may do with what is theirs, without a role. */
const ofOwnData = sampled.filter(({ method }) => optionsOf(method).ownData);

/** Somebody with everything that people have, and the ids of it by the name of its service. */
type Person = { id: string; token: string; ids: Readonly<Record<string, string>> };

async function somebody(): Promise<Person> {
  const { id, loginName } = await addPersonNamed(peer);
  await live(id, loginName);
  const token = await sessionTokenFor(peer.app, id);
  const first = async (path: string, filter: JsonObject = { user_id: id }) =>
    String(bodyOf(await peer.post(`${path}/_search`, [filter])).result[0].details.id);
  const ids = {
    UserService: id,
    SessionService: await first("/sessions"),
    SignInService: await first("/sign_ins"),
    ConsentService: await first("/consents"),
    UserGrantService: await first("/user_grants", { in_user_ids: { ids: [id] } }),
  };
  return { id, token, ids };
}

/** Does what people do: logs in, lets an app act, gets a grant, changes the profile. */
async function live(id: string, loginName: string): Promise<void> {
  const agent = userAgent(peer.issuer);
  await agent.open(authorizeUrl(peer, client, { scope: ownApi }));
  await signIn(agent, loginName);
  const left = await agent.submit({ consent: "allow" });
  assert.ok(left.left !== undefined, left.html);
  await peer.tokensFor(client, id, { scope: ["openid", "offline_access"] });
  const project_id = String(
    bodyOf(await peer.post("/projects", { name: uniqueName("p") }), 201).details.id,
  );
  bodyOf(await peer.post("/project_roles", { project_id, key: "reader" }), 201);
  bodyOf(await peer.post("/user_grants", { user_id: id, project_id, role_keys: ["reader"] }), 201);
  bodyOf(await peer.patch(`/users/${id}`, { data: { nickname: uniqueName("nick") } }));
  bodyOf(await peer.put(`/users/${id}/metadata/colour`, { value: "eA==" }));
}

/** The request of a sample that names nothing, with an id in the place of what is not there. */
const naming = (request: JsonObject, id: string): JsonObject =>
  JSON.parse(JSON.stringify(request).replaceAll('"404"', JSON.stringify(id)));

const idOf = ({ ids, id }: Person, { parent }: DescMethod) => ids[parent.name] ?? id;

const call = ({ token }: Pick<Person, "token">, method: DescMethod, request: JsonObject) =>
  peer.peer.call(protocol, method, fromJson(method.input, request), { token });

/** Methods that change a way to log in only where they change this. */
const changing: Readonly<Record<string, JsonObject>> = {
  PatchUser: { id: "404", user: { username: "somebody-else" } },
};

const refusalOf = (outcome: Outcome) =>
  outcome.ok ? "answered" : `${outcome.code} ${outcome.reason}`;

describe("what people do with what is theirs", () => {
  it("is refused for what is somebody else's in the words for what is not there", async () => {
    const [alice, bob] = [await somebody(), await somebody()];
    for (const { method, sample } of ofOwnData) {
      const { request } = sample.unknown ?? {};
      if (request === undefined || !JSON.stringify(request).includes('"404"')) continue;
      const unknown = refusalOf(await call(alice, method, naming(request, "404")));
      const theirs = refusalOf(await call(alice, method, naming(request, idOf(bob, method))));
      assert.notEqual(unknown, "answered", method.name);
      assert.equal(theirs, unknown, method.name);
    }
  });

  it("tells the same whatever others do meanwhile", async () => {
    const alice = await somebody();
    const reads = sampled.filter(
      ({ method, sample }) =>
        !sample.writes && (optionsOf(method).ownData || sample.stranger === "answered"),
    );
    const readAll = async () => {
      const told: Record<string, JsonValue> = {};
      for (const { method, sample } of reads) {
        const own = sample.unknown && naming(sample.unknown.request, idOf(alice, method));
        const outcome = await call(alice, method, own ?? {});
        const answer = outcome.ok ? toJson(method.output, outcome.message) : refusalOf(outcome);
        // How far the log is that was read is nobody's in particular.
        told[method.name] = JSON.parse(
          JSON.stringify(answer, (name, value) =>
            ["processedSequence", "timestamp"].includes(name) ? undefined : value,
          ),
        );
      }
      return told;
    };
    const first = await readAll();
    for (const name of ["Users", "Sessions", "SignIns", "Consents", "UserGrants"]) {
      const { result = [] } = Object(first[`Search${name}`]);
      assert.ok(result.length > 0, `${name}: ${JSON.stringify(first[`Search${name}`])}`);
    }
    for (const _ of ["Bob", "Carol"]) await somebody();
    assert.deepEqual(await readAll(), first);
  });

  it("is of no use to who has stolen a session, for any way to log in: each asks for a proof that is not older than five minutes", async () => {
    const alice = await somebody();
    peer.pass(301_000);
    const events = async () => (await peer.events()).length;
    const known = await events();
    const asked = ofOwnData.filter(({ method }) => optionsOf(method).stepUp);
    assert.ok(asked.length > 25);
    for (const { method, sample } of asked) {
      const request = changing[method.name] ?? sample.unknown?.request;
      assert.ok(request !== undefined, method.name);
      const outcome = await call(alice, method, naming(request, alice.id));
      assertRefused(outcome, { code: 16, reason: "STEP_UP_REQUIRED" }, method.name);
    }
    assert.equal(await events(), known);
  });
});
