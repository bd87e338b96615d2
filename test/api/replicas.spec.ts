// Run: alone, store, early
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fromJson } from "@bufbuild/protobuf";
import { checkStore } from "../faults/checker.ts";
import { addCaller, startTestApp } from "../support/app.ts";
import { beside } from "../support/beside.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { connectPeer, messageOf, type Peer, someProtocols } from "../support/protocols.ts";
import { storeOfMany } from "../support/processes.ts";
import { systemCaller } from "../support/system-caller.ts";
import { condition, makeWorld, samples } from "./samples.ts";

// Keys that sealed addresses are destroyed months later.
const jobsLeft = "SELECT count(*) FROM jobs WHERE kind <> 'event.origin_key.forget'";
const headsOfLogs = "SELECT instance_id, last FROM sequences ORDER BY instance_id";
const patienceMs = 30_000;

type Balancer = AsyncDisposable & { port: number; taken: number[] };

/** Leads each connection to one of the ports, at random, and knows nothing of what it carries. */
async function balance(ports: readonly number[]): Promise<Balancer> {
  const taken = ports.map(() => 0);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const at = Math.floor(Math.random() * ports.length);
    taken[at] = (taken[at] ?? 0) + 1;
    const upstream = connect(ports[at] ?? 0, "127.0.0.1");
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket);
      socket.pipe(other);
      socket.on("error", () => other.destroy()).on("close", () => open.delete(socket));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return {
    port: address.port,
    taken,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** A client that opens a connection for each call. */
function freshPeer(port: number): Pick<Peer, "call" | "rest" | "send"> {
  return {
    async call(...given) {
      using peer = connectPeer(port);
      return await peer.call(...given);
    },
    async rest(...given) {
      using peer = connectPeer(port);
      return await peer.rest(...given);
    },
    async send(...given) {
      using peer = connectPeer(port);
      return await peer.send(...given);
    },
  };
}

let aheadMs = 0;
const now = () => new Date(Date.now() + aheadMs);

async function startReplicas() {
  const operator = systemCaller();
  const texts = new Map<string, string[]>();
  const resolver = {
    addresses: async () => [],
    texts: async (name: string) => texts.get(name) ?? [],
  };
  const store = await storeOfMany();
  const options = { env: operator.env, resolver, now };
  const first = await startTestApp({ ...store.first(), ...options });
  const second = await store.start(options);
  const balancer = await balance([first.port, second.port]);
  after(async () => {
    for (const each of [balancer, second, first, store]) await each[Symbol.asyncDispose]();
  });
  const system = await operator.tokenFor(first.made.issuer);
  return { first, second, balancer, system, texts };
}

const { first, second, balancer, system, texts } = await startReplicas();
const peer = freshPeer(balancer.port);
const world = await makeWorld(peer, { ...first, system, texts }, condition);

describe("two processes behind a proxy that leads each connection to either (H5)", () => {
  for (const [nth, { rule, kind }] of first.app.endpoints.entries()) {
    const sample = samples[rule.path];
    if (kind !== "unary" || sample === undefined) continue;
    const { method } = rule;
    // That all protocols answer alike is the matrix's to show.
    const some = someProtocols(nth, 1);
    it(`serve ${method.parent.name}.${method.name} over ${some.join(", ")}`, async () => {
      const token = sample.caller === "system" ? system : first.token;
      for (const [turn, protocol] of some.entries()) {
        const request = fromJson(method.input, await sample.valid(world, turn));
        messageOf(await peer.call(protocol, method, request, { token }));
      }
    });
  }

  it("show each other's writes at once, in both directions (C2, F15)", async () => {
    const [one, two] = [freshPeer(first.port), freshPeer(second.port)];
    const options = { token: first.token };
    for (let round = 0; round < 30; round++) {
      const [writer, reader] = round % 2 === 0 ? [one, two] : [two, one];
      const id = await world.newTarget();
      const path = `/resources/v3alpha/targets/${id}`;
      const name = `seen in round ${round}`;
      const patched = await writer.rest("PATCH", path, { name }, options);
      assert.equal(patched.status, 200, JSON.stringify(patched.json));
      const read = await reader.rest("GET", path, undefined, options);
      assert.match(JSON.stringify(read.json), new RegExp(`"name":"${name}"`));
      const found = await reader.rest(
        "POST",
        "/resources/v3alpha/targets/_search",
        [{ name: { name } }],
        options,
      );
      assert.equal(Object(found.json).result.length, 1);
      assert.equal((await writer.rest("DELETE", path, undefined, options)).status, 200);
      const gone = await reader.rest("GET", path, undefined, options);
      assert.equal(gone.status, 404);
      assert.equal(gone.refusal?.reason, "TARGET_NOT_FOUND");
    }
  });

  it("J20: give no new power by a token that ended as it was given, however new what each of them knows is", async () => {
    const [one, two] = [freshPeer(first.port), freshPeer(second.port)];
    const owner = { token: first.token };
    const maker = await addCaller(first, ["IAM_ORG_MANAGER"]);
    const path = "/resources/v3alpha";
    const newMachine = async () => {
      const machine = {
        username: uniqueName("machine"),
        schema_id: "machine",
        data: { name: "m" },
      };
      return String(
        bodyOf(await one.rest("POST", `${path}/users`, machine, owner), 201).details.id,
      );
    };
    const promote = async (by: typeof one, user_id: string) => {
      const given = { ctx: { instance_id: first.made.instance_id }, user_id, roles: ["IAM_OWNER"] };
      const added = await by.rest("POST", `${path}/memberships`, given, owner);
      return String(bodyOf(added, 201).details.id);
    };
    for (let round = 0; round < 5; round++) {
      const [id, other] = [await newMachine(), await newMachine()];
      const membership = await promote(one, other);
      const made = await one.rest("POST", `${path}/users/${id}/personal_access_tokens`, {}, maker);
      const token = String(bodyOf(made, 200).token);
      // The second knows the token, and has to read memberships anew.
      bodyOf(await two.rest("GET", `${path}/users/${id}`, undefined, { token }));
      bodyOf(await two.rest("DELETE", `${path}/memberships/${membership}`, undefined, owner));
      await promote(one, id);
      const asked = await two.rest("POST", `${path}/targets/_search`, [], { token });
      assert.equal(asked.status, 401, JSON.stringify(asked.json));
      assert.equal(asked.refusal?.reason, "TOKEN_INVALID");
    }
  });

  it("have both been called, and leave a store without a flaw", async () => {
    const least = balancer.taken.reduce((sum, each) => sum + each, 0) / 4;
    for (const each of balancer.taken) assert.ok(each > least, balancer.taken.join(" and "));
    // What deleted instances left behind is removed a minute later, by whichever replica.
    aheadMs = 70_000;
    const open = async () => Number((await beside(first.kernel, jobsLeft)).rows[0]?.[0]);
    for (const end = Date.now() + patienceMs; (await open()) > 0; await delay(100)) {
      assert.ok(Date.now() < end, `${await open()} jobs are left`);
    }
    // What has expired may still be swept, by an event: only of a store that stood still meanwhile the look counts.
    const heads = async () => JSON.stringify((await beside(first.kernel, headsOfLogs)).rows);
    for (const end = Date.now() + patienceMs; ; ) {
      const before = await heads();
      const flaws = await checkStore(first.kernel, []);
      if ((await heads()) !== before) {
        assert.ok(Date.now() < end, "the store does not come to rest");
        continue;
      }
      assert.deepEqual(flaws, []);
      break;
    }
  });
});
