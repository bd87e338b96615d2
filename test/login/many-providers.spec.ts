// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { authorizeUrl } from "../support/login.ts";
import { bodyOf } from "../support/peer.ts";
import { answerOf, formOf, type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";
import { leaving, type ProviderWorld, startProviderWorld } from "./provider-world.ts";

const largest = 30 * 1024;
const count = 70;
// The longest names there can be, of letters that take the most room.
const nameOf = (at: number) => `${String(at).padStart(2, "0")} ${"𝒜".repeat(197)}`;

let world: ProviderWorld;
const ids: string[] = [];
const logged: string[] = [];

before(async () => {
  world = await startProviderWorld({ log: (line) => void logged.push(line) });
  const { issuer, clientId: client_id, secret: client_secret } = world.fake;
  for (let at = 0; at < count; at += 1) {
    const idp = { name: nameOf(at), options: { is_auto_creation: true } };
    const config = { issuer, client_id, client_secret };
    const made = await world.peer.post("/idps/forge_b", { idp, config });
    ids.push(String(bodyOf(made, 201).details.id));
  }
});
after(() => world[Symbol.asyncDispose]());

const buttonsOf = ({ html }: Shown): string[] =>
  Array.from(html.matchAll(/name="idp" value="([^"]*)"/g), ([, id = ""]) => id);

function linkOf({ html }: Shown, label: string): string | undefined {
  const found = [...html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)<\/a>/g)];
  return found.find(([, , text]) => text === label)?.[1]?.replaceAll("&amp;", "&");
}

function requireSmall({ html, status }: Shown): void {
  assert.equal(status, 200);
  assert.ok(Buffer.byteLength(html) <= largest, `${Buffer.byteLength(html)} bytes`);
}

/** All forms of a page have the same hidden fields. */
function press(agent: UserAgent, idp: string): Promise<Shown> {
  const body = new URLSearchParams({ ...formOf(agent.last.html).fields, idp });
  const headers = { origin: world.peer.issuer, "sec-fetch-site": "same-origin" };
  return agent.open("/ui/login/idp", { method: "POST", body, headers });
}

const allFrom = async (agent: UserAgent): Promise<Shown> =>
  agent.open(linkOf(agent.last, "More ways to sign in") ?? "");

describe("a log-in page with more providers than it shows", () => {
  it("shows eight, and leads to a page of all of them, by name, in 30 KB each", async () => {
    const agent = await world.begin();
    requireSmall(agent.last);
    assert.deepEqual(buttonsOf(agent.last), ids.slice(0, 8));
    const seen: string[] = [];
    for (let shown = await allFrom(agent); ; ) {
      requireSmall(shown);
      seen.push(...buttonsOf(shown));
      const next = linkOf(shown, "Next");
      if (next === undefined) break;
      shown = await agent.open(next);
    }
    assert.deepEqual(seen, ids);
  });

  it("finds one by a part of its name, says where there is none, and goes on in the flow", async () => {
    const agent = await world.begin({ state: "the-state" });
    const all = await allFrom(agent);
    const find = (name: string) => {
      const to = new URL(all.url);
      to.searchParams.set("name", name);
      return agent.open(to);
    };
    const none = await find("nobody");
    assert.deepEqual(buttonsOf(none), []);
    assert.match(none.html, /Nothing has this name\./);
    const one = await find("42 𝒜");
    assert.deepEqual(buttonsOf(one), [ids[42]]);
    const left = leaving(await agent.submit({ idp: ids[42] ?? "" }));
    const answered = answerOf(await agent.open(await world.visit(left)));
    assert.equal(answered.get("state"), "the-state");
    assert.ok(answered.has("code"));
  });

  it("shows those first that were chosen last in this browser", async () => {
    const agent = await world.begin();
    for (const at of [50, 60]) {
      await agent.open(authorizeUrl(world.peer, world.app, { prompt: "login" }));
      leaving(await press(agent, ids[at] ?? ""));
    }
    await agent.open(authorizeUrl(world.peer, world.app, { prompt: "login" }));
    assert.deepEqual(buttonsOf(agent.last).slice(0, 3), [ids[60], ids[50], ids[0]]);
    // What a stranger writes into the cookie chooses nothing that is not offered.
    agent.cookies.set("idsvc-providers", `nobody/${ids[69]}/../"<script>`);
    await agent.open(authorizeUrl(world.peer, world.app, { prompt: "login" }));
    assert.deepEqual(buttonsOf(agent.last).slice(0, 2), [ids[69], ids[0]]);
  });

  it("has 30 KB where the app sends the longest request that is no row, and goes on from it", async () => {
    const app = await world.peer.addClient({}, { name: "&".repeat(200) });
    const state = "s".repeat(2_400);
    const agent = userAgent(world.peer.issuer);
    await agent.open(authorizeUrl(world.peer, app, { state }));
    assert.ok((agent.last.url.searchParams.get("flow") ?? "").length > 3_000);
    requireSmall(agent.last);
    // The address that was opened goes on, and so does the short one that the page has.
    const address = agent.last.url;
    const short = /name="flow" value="([^"]*)"/.exec(agent.last.html)?.[1] ?? "";
    assert.ok(short.length <= 32, short);
    requireSmall(await agent.open(address));
    assert.match(agent.last.html, new RegExp(`name="flow" value="${short}"`));
    const left = leaving(await agent.open(`/ui/login/idp?flow=${short}&idp=${ids[3]}`));
    const shown = await agent.open(await world.visit(left));
    assert.equal(answerOf(shown).get("state"), state);
  });

  it("has the shipped texts where those that are set would make it too large", async () => {
    const { peer } = world;
    const long = "ö".repeat(2_000);
    const keys = ["loginName.provider", "loginName.passkey", "common.or"];
    const set = async (of: string[], value: JsonObject) => {
      const texts = of.map((key) => ({ key, language: "en", ...value }));
      const path = "/settings/v3alpha/texts";
      bodyOf(await peer.peer.rest("PATCH", path, texts, { token: peer.app.token }));
      peer.pass(2_000);
    };
    await set(keys, { set: long });
    const agent = await world.begin();
    requireSmall(agent.last);
    assert.match(agent.last.html, /Continue with 00/);
    await agent.open(agent.last.url);
    // Whoever runs the service finds it in the log: once, however often the page is opened.
    const found = logged.filter((line) => line.includes("shown with the shipped texts"));
    assert.equal(found.length, 1, found.join("\n"));
    const { instanceId, path, language } = JSON.parse(found[0] ?? "");
    assert.deepEqual([path, language], ["/ui/login/loginname", "en"]);
    assert.equal(instanceId, world.peer.app.made.instance_id);
    await set(keys, { reset: true });
    // One that leaves room is shown.
    await set(["loginName.title"], { set: long });
    assert.match((await world.begin()).last.html, new RegExp(`<h1>${long}`));
  });
});
