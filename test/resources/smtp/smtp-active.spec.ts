// Run: shared, store
import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import {
  asyncProperty,
  array,
  assert as holds,
  boolean,
  constantFrom,
  nat,
  record,
} from "fast-check";
import type { JsonObject } from "@bufbuild/protobuf";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { roundsOf } from "../../support/rounds.ts";
import { inSystem, server, startSmtpPeer } from "./smtp-peer.ts";

const service = await startSmtpPeer();
const { add, get, inForce, instanceId, patch, post, provider, read, readInSystem, remove } =
  service;
const { system, turn } = service;
after(() => service[Symbol.asyncDispose]());
afterEach(() => service.clear());

const notFound = { code: 5, reason: "SMTP_PROVIDER_NOT_FOUND" };
const activeAlready = { code: 9, reason: "SMTP_PROVIDER_ACTIVE_ALREADY" };
const inactiveAlready = { code: 9, reason: "SMTP_PROVIDER_INACTIVE_ALREADY" };
const [active, inactive] = ["EFFECTIVE_STATE_ACTIVE", "EFFECTIVE_STATE_INACTIVE"];
const systemOwner = { type: "OWNER_TYPE_SYSTEM", id: "" };
const search = async (filters: JsonObject[] = [], query = "") =>
  bodyOf(await post(`/smtp_providers/_search${query}`, filters));

describe("the first providers of mails of the system", () => {
  it("may come at once: the keys that their secrets are sealed by are made once", async () => {
    const passwords = ["one", "two", "three", "four"];
    const made = await Promise.all(passwords.map((password) => add({ password }, inSystem)));
    for (const [at, id] of made.entries()) {
      // One of them is active already.
      await turn(id, "activate", inSystem);
      const used = await provider();
      assert.ok(used?.kind === "smtp");
      assert.deepEqual([used.id, used.password], [id, passwords[at]]);
    }
  });
});

describe("the one provider of mails that is active", () => {
  it("is the one that was created or activated last", async () => {
    const [one, two] = [await add(), await add()];
    assert.equal((await read(one)).state, inactive);
    assert.equal((await read(one)).smtp_provider.state_policy, "STATE_POLICY_DEACTIVATE");
    assert.equal(await inForce(), two);
    bodyOf(await turn(one, "activate"));
    assert.deepEqual([(await read(one)).state, (await read(two)).state], [active, inactive]);
    assert.equal(await inForce(), one);
    assertRefused((await turn(one, "activate")).refusal, activeAlready);
    assertRefused((await turn(two, "deactivate")).refusal, inactiveAlready);
    bodyOf(await turn(one, "deactivate"));
    assert.equal(await inForce(), undefined);
    bodyOf(await patch(`/smtp_providers/${two}`, { state_policy: "STATE_POLICY_ACTIVATE" }));
    assert.equal(await inForce(), two);
  });

  it("stays the one where another is created inactive, and is none when it is deleted", async () => {
    const one = await add();
    const two = await add({ state_policy: "STATE_POLICY_DEACTIVATE" });
    assert.equal(await inForce(), one);
    bodyOf(await remove(`/smtp_providers/${one}`));
    assert.equal(await inForce(), undefined);
    assert.equal((await read(two)).state, inactive);
    assertRefused((await get(`/smtp_providers/${one}`)).refusal, notFound);
  });

  it("is one, however many are activated at once", async () => {
    const all: string[] = [];
    for (let n = 0; n < 6; n++) all.push(await add({ state_policy: "STATE_POLICY_DEACTIVATE" }));
    const answers = await Promise.all(all.map((id) => turn(id, "activate")));
    for (const { status } of answers) assert.ok(status === 200 || status === 409, `${status}`);
    const states = await search([{ state: { state: active } }]);
    assert.equal(states.result.length, 1);
    const policies = (await search()).result.map(
      (each: { smtp_provider: { state_policy: string } }) => each.smtp_provider.state_policy,
    );
    assert.equal(
      policies.filter((policy: string) => policy !== "STATE_POLICY_DEACTIVATE").length,
      1,
    );
  });
});

describe("a provider of mails of the system", () => {
  const addToSystem = (more: JsonObject = {}) => add(more, inSystem);

  it("sends for an instance that has none: the instance sees it, but not how it is reached", async () => {
    const id = await addToSystem();
    assert.equal(await inForce(), id);
    const seen = await read(id);
    assert.deepEqual(seen.details.resource_owner, systemOwner);
    assert.deepEqual(seen.parent, { parent: systemOwner, state: active });
    assert.equal(seen.state, active);
    const { description: __, ...rest } = seen.smtp_provider;
    assert.deepEqual(rest, {
      sender_address: server.sender_address,
      sender_name: server.sender_name,
      reply_to_address: "",
      host: "",
      tls: false,
      user: "",
      state_policy: "STATE_POLICY_INHERIT",
    });
    assert.equal((await readInSystem(id)).smtp_provider.host, server.host);
    const used = await provider();
    assert.ok(used?.kind === "smtp");
    assert.deepEqual([used.host, used.password], ["mail.example.com", "a secret"]);
    const found = await search();
    assert.deepEqual(found.result, [seen]);
    assert.equal(found.details.total_result, "1");
  });

  it("steps back where the instance decides on another one, and comes again with it", async () => {
    const above = await addToSystem();
    const own = await add();
    assert.equal(await inForce(), own);
    assert.equal((await read(above)).state, inactive);
    assert.equal((await readInSystem(above)).state, active);
    bodyOf(await turn(own, "deactivate"));
    assert.equal(await inForce(), above);
    bodyOf(await turn(above, "deactivate"));
    assert.equal(await inForce(), undefined);
    assertRefused((await turn(above, "deactivate")).refusal, inactiveAlready);
    assert.equal((await readInSystem(above)).state, active);
    bodyOf(await turn(above, "activate"));
    assert.equal(await inForce(), above);
    assertRefused((await turn(above, "activate")).refusal, activeAlready);
    bodyOf(await turn(own, "activate"));
    assert.equal((await read(above)).smtp_provider.state_policy, "STATE_POLICY_DEACTIVATE");
    bodyOf(await patch(`/smtp_providers/${above}`, { state_policy: "STATE_POLICY_ACTIVATE" }));
    assert.deepEqual([await inForce(), (await read(own)).state], [above, inactive]);
  });

  it("is active for an instance that activated it, also when the system has another one", async () => {
    const [first, second] = [await addToSystem(), await addToSystem()];
    assert.equal(await inForce(), second);
    bodyOf(await turn(first, "activate"));
    assert.equal(await inForce(), first);
    assert.deepEqual((await read(first)).parent, { parent: systemOwner, state: inactive });
    bodyOf(await turn(first, "activate", inSystem));
    assert.equal((await readInSystem(second)).state, inactive);
    bodyOf(await patch(`/smtp_providers/${first}`, { state_policy: "STATE_POLICY_INHERIT" }));
    assert.equal(await inForce(), first);
  });

  it("gets the policy of an instance from a system caller who names the instance (B2)", async () => {
    const [first, second] = [await addToSystem(), await addToSystem()];
    const named = `?ctx.instance_id=${instanceId}`;
    bodyOf(await post(`/smtp_providers/${first}/_activate${named}`, undefined, system));
    assert.equal(await inForce(), first);
    const seen = bodyOf(await get(`/smtp_providers/${first}${named}`, system)).smtp_provider;
    assert.equal(seen.smtp_provider.state_policy, "STATE_POLICY_ACTIVATE");
    assert.equal(seen.state, active);
    assert.equal((await readInSystem(first)).state, inactive, "nothing has changed above");
    const back = { state_policy: "STATE_POLICY_INHERIT" };
    bodyOf(await patch(`/smtp_providers/${first}${named}`, back, system));
    assert.equal(await inForce(), second);
    const { refusal } = await remove(`/smtp_providers/${first}${named}`, system);
    assertRefused(refusal, { code: 7, reason: "INHERITED_NOT_DELETABLE" });
    const elsewhere = await get(`/smtp_providers/${first}?ctx.instance_id=404`, system);
    assertRefused(elsewhere.refusal, { code: 5, reason: "INSTANCE_NOT_FOUND" });
    // Without a name it is the system's, as it was.
    bodyOf(await patch(`/smtp_providers/${first}`, { description: "above" }, system));
    assert.equal((await readInSystem(first)).smtp_provider.description, "above");
  });

  it("is changed and deleted by the system alone (E3)", async () => {
    const id = await addToSystem();
    const changes: [JsonObject, string][] = [
      [{ description: "mine" }, "description"],
      [{ host: "evil.test:25", password: "x" }, "host"],
      [{ rotate_signing_key: true }, "rotate_signing_key"],
      [{ sender_name: "x", state_policy: "STATE_POLICY_ACTIVATE" }, "sender_name"],
    ];
    for (const [body, field] of changes) {
      const { refusal } = await patch(`/smtp_providers/${id}`, body);
      assertRefused(refusal, { code: 9, reason: "INHERITED_READ_ONLY" });
      assert.deepEqual(refusal.metadata, { field: `smtp_provider.${field}` });
    }
    const { status, refusal } = await remove(`/smtp_providers/${id}`);
    assert.equal(status, 403);
    assertRefused(refusal, { code: 7, reason: "INHERITED_NOT_DELETABLE" });
    bodyOf(await patch(`/smtp_providers/${id}${inSystem}`, { description: "above" }, system));
    assert.equal((await read(id)).smtp_provider.description, "above");
    bodyOf(await remove(`/smtp_providers/${id}${inSystem}`, system));
    assertRefused((await get(`/smtp_providers/${id}`)).refusal, notFound);
  });

  it("has no view of what belongs to an instance", async () => {
    const own = await add();
    assertRefused((await get(`/smtp_providers/${own}${inSystem}`, system)).refusal, notFound);
    assertRefused((await remove(`/smtp_providers/${own}${inSystem}`, system)).refusal, notFound);
  });
});

type Policy = "INHERIT" | "ACTIVATE" | "DEACTIVATE";
type Known = { id: string; above: boolean; own: Policy; here: Policy };

/**
 * The reference: who sends for the instance. What it decided on goes first; then what is active above, unless it is
 * deactivated here.
 */
function chosen(all: readonly Known[]): string | undefined {
  const decided = all.find(({ above, own, here }) =>
    above ? here === "ACTIVATE" : own !== "DEACTIVATE",
  );
  const inherited = all.find(
    ({ above, own, here }) => above && own !== "DEACTIVATE" && here === "INHERIT",
  );
  return (decided ?? inherited)?.id;
}

/** Of those that a context decides on only the last that was activated stays so. */
function decide(all: readonly Known[], known: Known, fromAbove: boolean, policy: Policy): void {
  const field = known.above && !fromAbove ? "here" : "own";
  known[field] = policy;
  const isOn = policy === "ACTIVATE" || (policy === "INHERIT" && field === "own");
  if (!isOn) return;
  for (const other of all) {
    if (other === known) continue;
    if (fromAbove) {
      if (other.above) other.own = "DEACTIVATE";
    } else if (!other.above) other.own = "DEACTIVATE";
    else if (other.here === "ACTIVATE") other.here = "DEACTIVATE";
  }
}

it("whatever is decided above and below, at most one sends, and it is the right one", () =>
  holds(
    asyncProperty(
      array(
        record({
          which: nat(3),
          fromAbove: boolean(),
          policy: constantFrom<Policy>("INHERIT", "ACTIVATE", "DEACTIVATE"),
        }),
        { minLength: 8, maxLength: 20 },
      ),
      async (steps) => {
        const all: Known[] = [];
        for (const above of [true, true, false, false]) {
          const query = above ? inSystem : "";
          const id = await add({}, query);
          const known: Known = { id, above, own: "DEACTIVATE", here: "INHERIT" };
          all.push(known);
          decide(all, known, above, "INHERIT");
        }
        for (const { which, fromAbove, policy } of steps) {
          const known = all[which];
          if (known === undefined || (fromAbove && !known.above)) continue;
          const body = { state_policy: `STATE_POLICY_${policy}` };
          const before = fromAbove || !known.above ? known.own : known.here;
          bodyOf(
            fromAbove
              ? await patch(`/smtp_providers/${known.id}${inSystem}`, body, system)
              : await patch(`/smtp_providers/${known.id}`, body),
          );
          // From active to active by another word takes nobody's turn.
          const stays =
            (fromAbove || !known.above) && before !== "DEACTIVATE" && policy !== "DEACTIVATE";
          if (stays) known.own = policy;
          else decide(all, known, fromAbove, policy);
          assert.equal(await inForce(), chosen(all));
        }
        const found = await search([{ state: { state: active } }]);
        const ids = found.result.map((each: { details: { id: string } }) => each.details.id);
        const sending = chosen(all);
        assert.deepEqual(ids, sending === undefined ? [] : [sending]);
        for (const { id } of all) {
          assert.equal((await read(id)).state, id === sending ? active : inactive);
        }
        await service.clear();
      },
    ),
    { numRuns: roundsOf(8) },
  ));
