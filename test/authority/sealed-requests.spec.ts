// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { loginModule } from "../../src/login/module.ts";
import { beside } from "../support/beside.ts";
import { addPersonNamed, authorizeUrl, password, signIn } from "../support/login.ts";
import { codeIn, type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, redirectUri, startOidc } from "../support/oidc.ts";
import { answerOf, errorOf, formOf, userAgent } from "../support/user-agent.ts";

const lines: string[] = [];
let peer: OidcPeer;
let web: MadeClient;
let pages: LoginPages;

before(async () => {
  peer = await startOidc({
    env: { IDSVC_BUDGET_FLOWS: "0" },
    log: (line) => void lines.push(line),
  });
  web = await peer.addClient();
  pages = loginPages(peer, web);
});
after(() => peer[Symbol.asyncDispose]());

const minute = 60_000;
const rowsOf = async (table: string): Promise<number> =>
  Number((await beside(peer.app.kernel, `SELECT count(*) FROM ${table}`)).rows[0]?.[0]);
const tables = ["login_flows", "user_agents", "events", "jobs", "secrets"];
const rows = async () => Promise.all(tables.map(rowsOf));
const sweep = async () => {
  for (const once of loginModule.sweeps?.(peer.deps) ?? []) await once(1_000);
};
const flowOf = (url: URL): string => url.searchParams.get("flow") ?? "";

describe("D86: a request of which nothing has been entered (J12a)", () => {
  it("a thousand of them leave no row", async () => {
    const earlier = await rows();
    for (let nth = 0; nth < 1_000; nth += 1) {
      const url = authorizeUrl(peer, web, { state: `${nth}`.padEnd(500, "x"), nonce: `n${nth}` });
      const asked = await fetch(url, { redirect: "manual" });
      assert.equal(asked.status, 303);
      assert.match(asked.headers.get("location") ?? "", /^\/ui\/login\?flow=[\w-]{40,4096}$/);
      assert.equal(asked.headers.getSetCookie().length, 1);
      if (nth % 100 === 0) {
        const shown = await userAgent(peer.issuer).open(url);
        assert.equal(pathOf(shown), "/ui/login/loginname");
      }
    }
    const pagesOfTheirOwn = ["", "/register", "/password/forgot", "/accounts", "/logout"];
    for (const path of [...pagesOfTheirOwn.map((one) => `/ui/login${one}`), "/device"]) {
      await userAgent(peer.issuer).open(path);
    }
    assert.deepEqual(await rows(), earlier);
  });

  it("gets its row with the first thing that is entered, and one alone", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin();
    const { url } = agent.last;
    const earlier = await rowsOf("login_flows");
    await agent.submit({ login_name: "" });
    assert.equal(await rowsOf("login_flows"), earlier);
    await agent.submit({ login_name: loginName });
    assert.equal(await rowsOf("login_flows"), earlier + 1);
    const kept = flowOf(agent.last.url);
    assert.match(kept, /^[\w-]{32}$/);
    // Back and reload: the first address leads to the same flow.
    const again = await agent.open(url);
    assert.equal(formOf(again.html).fields["flow"], kept);
    await agent.submit({ login_name: loginName });
    assert.equal(await rowsOf("login_flows"), earlier + 1);
    codeIn(await agent.submit({ password }));
  });

  it("gives one code: once its flow is over the address leads nowhere", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin();
    const first = agent.last.url;
    const { fields } = formOf(agent.last.html);
    codeIn(await signIn(agent, loginName));
    for (const flow of [flowOf(first), fields["flow"] ?? ""]) {
      const back = await agent.open(`/ui/login/loginname?flow=${flow}`);
      assert.equal(errorOf(back), "FLOW_NOT_FOUND");
      // It leads back to the application; whoever else has the address learns not even which one it is.
      assert.match(back.html, new RegExp(`href="${new URL(redirectUri).origin}/"[^>]*>Back to`));
      const other = await userAgent(peer.issuer).open(`/ui/login/loginname?flow=${flow}`);
      assert.deepEqual([errorOf(other), /Back to/.test(other.html)], ["FLOW_NOT_FOUND", false]);
      const callback = await agent.open(`/oauth/v2/authorize/callback?id=${flow}`);
      assert.deepEqual([callback.status, callback.left], [400, undefined]);
    }
  });

  it("two windows with one address are one login; with two addresses two", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin({ state: "first" });
    const one = agent.last.url;
    const second = userAgent(peer.issuer, agent.cookies);
    await second.open(authorizeUrl(peer, web, { state: "second", prompt: "login" }));
    await second.submit({ login_name: loginName });
    const third = userAgent(peer.issuer, agent.cookies);
    await third.open(one);
    assert.equal(answerOf(await signIn(agent, loginName)).get("state"), "first");
    // The cookie is another one by now; what was begun with the one before goes on, once its page is loaded again.
    await second.open(second.last.url);
    assert.equal(answerOf(await second.submit({ password })).get("state"), "second");
    assert.equal(errorOf(await third.open(one)), "FLOW_NOT_FOUND");
  });

  it("is of one browser, of one instance's key, and whole", async () => {
    const agent = await pages.begin();
    const flow = flowOf(agent.last.url);
    const other = userAgent(peer.issuer);
    await other.open("/ui/login");
    const bent = `${flow.slice(0, 60)}${flow[60] === "A" ? "B" : "A"}${flow.slice(61)}`;
    for (const [browser, address] of [
      [other, flow],
      [userAgent(peer.issuer), flow],
      [agent, bent],
      [agent, flow.slice(0, -4)],
      [agent, `${flow}AAAA`],
      [agent, "A".repeat(5_000)],
    ] as const) {
      const shown = await browser.open(`/ui/login/loginname?flow=${address}`);
      assert.deepEqual([shown.status, errorOf(shown)], [400, "FLOW_NOT_FOUND"]);
      const callback = await browser.open(`/oauth/v2/authorize/callback?id=${address}`);
      assert.equal(callback.left, undefined);
    }
    assert.equal((await agent.open(`/ui/login/loginname?flow=${flow}`)).status, 200);
  });

  it("lives an hour", async () => {
    const agent = await pages.begin();
    const address = agent.last.url;
    peer.pass(59 * minute);
    assert.equal((await agent.open(address)).status, 200);
    peer.pass(2 * minute);
    const late = await agent.open(address);
    assert.equal(errorOf(late), "FLOW_NOT_FOUND");
    assert.match(late.html, />Back to/);
  });

  it("too long for an address it is a row, for ten minutes or until something is entered", async () => {
    const { loginName } = await addPersonNamed(peer);
    const state = "s".repeat(3_500);
    await sweep();
    const earlier = await rowsOf("login_flows");
    const [left, entered] = [await pages.begin({ state }), await pages.begin({ state })];
    assert.match(flowOf(left.last.url), /^[\w-]{32}$/);
    await entered.submit({ login_name: loginName });
    assert.equal(await rowsOf("login_flows"), earlier + 2);
    peer.pass(11 * minute);
    await sweep();
    assert.equal(errorOf(await left.open(left.last.url)), "FLOW_NOT_FOUND");
    assert.equal(answerOf(await entered.submit({ password })).get("state"), state);
    assert.equal(await rowsOf("login_flows"), earlier + 1);
    peer.pass(60 * minute);
    await sweep();
    assert.equal(await rowsOf("login_flows"), 0);
  });

  it("posted by the client's own page costs none either", async () => {
    const earlier = await rows();
    const body = new URL(authorizeUrl(peer, web)).searchParams;
    const agent = userAgent(peer.issuer);
    const shown = await agent.open("/oauth/v2/authorize", { method: "POST", body });
    assert.equal(pathOf(shown), "/ui/login/loginname");
    assert.deepEqual(await rows(), earlier);
    const { loginName } = await addPersonNamed(peer);
    codeIn(await signIn(agent, loginName));
  });

  it("tells nothing of itself: not in the address, the log, or to where a page leads", async () => {
    const agent = await pages.begin({ state: "tell-tale-state", login_hint: "ada@hint.test" });
    const { url, headers } = agent.last;
    assert.doesNotMatch(url.href, /tell-tale|hint\.test|http%3A/);
    assert.doesNotMatch(Buffer.from(flowOf(url), "base64url").toString("latin1"), /tell-tale|hint/);
    assert.equal(headers.get("referrer-policy"), "same-origin");
    assert.ok(lines.length > 0);
    assert.ok(!lines.join("").includes(flowOf(url)), "the log holds the sealed request");
    assert.ok(!lines.join("").includes("tell-tale"));
  });

  it("nobody's passkey is asked by a challenge that was used", async () => {
    const agent = await pages.begin();
    const { html } = agent.last;
    const { fields } = formOf(html);
    const challenge = /challenge&quot;:&quot;([\w-]+)/.exec(html)?.[1];
    assert.ok(challenge !== undefined);
    const body = new URLSearchParams({ ...fields, credential: "{}" });
    const own = { origin: peer.issuer, "sec-fetch-site": "same-origin" };
    const send = () => agent.open("/ui/login/passkey", { method: "POST", body, headers: own });
    const shown = await send();
    assert.equal(pathOf(shown), "/ui/login/loginname");
    assert.notEqual(/challenge&quot;:&quot;([\w-]+)/.exec(shown.html)?.[1], challenge);
    // The page with the old challenge leads to the flow as it is now.
    const reopened = await agent.open(`/ui/login/passkey?flow=${fields["flow"]}`);
    assert.doesNotMatch(reopened.html, new RegExp(challenge));
  });
});

describe("the cookie of a browser in which nobody has logged in", () => {
  it("is dead once somebody has, however it is spelled", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin();
    const [[name, planted = ""] = ["", ""]] = agent.cookies;
    assert.match(planted, /^[\w-]{43}$/);
    const parallel = userAgent(peer.issuer, new Map(agent.cookies));
    await parallel.open(authorizeUrl(peer, web, { state: "parallel" }));
    const kept = parallel.last.url;
    codeIn(await signIn(agent, loginName));
    const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = digits.indexOf(planted.at(-1) ?? "");
    const spelled = [0, 1, 2, 3].map((more) => planted.slice(0, -1) + digits[(last & ~3) + more]);
    assert.ok(spelled.includes(planted));
    for (const cookie of spelled) {
      const thief = userAgent(peer.issuer, new Map([[name, cookie]]));
      assert.equal(errorOf(await thief.open(kept)), "FLOW_NOT_FOUND");
    }
    // Not for long, but for as long as it would prove itself.
    peer.pass(23 * 60 * minute);
    await sweep();
    const late = userAgent(peer.issuer, new Map([[name, planted]]));
    await late.open("/ui/login");
    assert.notEqual(late.cookies.get(name), planted);
  });

  it("is nobody's after a day, and never one that was not made here", async () => {
    const agent = userAgent(peer.issuer);
    await agent.open("/ui/login");
    const [[name, value = ""] = ["", ""]] = agent.cookies;
    await agent.open("/ui/login");
    assert.equal(agent.cookies.get(name), value);
    const bent = `${value.slice(0, 20)}${value[20] === "A" ? "B" : "A"}${value.slice(21)}`;
    const other = userAgent(peer.issuer, new Map([[name, bent]]));
    await other.open("/ui/login");
    assert.notEqual(other.cookies.get(name), bent);
    peer.pass(25 * 60 * minute);
    await agent.open("/ui/login");
    assert.notEqual(agent.cookies.get(name), value);
  });
});

describe("every form is answered with a redirect (L12)", () => {
  it("what was typed comes back, but for passwords; reload shows the same", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin();
    const sendTo = async (path: string, values: Record<string, string>) => {
      const { fields } = formOf(agent.last.html);
      const cookie = [...agent.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const answer = await fetch(`${peer.issuer}${path}`, {
        method: "POST",
        redirect: "manual",
        headers: { cookie, origin: peer.issuer },
        body: new URLSearchParams({ ...fields, ...values }),
      });
      assert.equal(answer.status, 303, path);
      return new URL(answer.headers.get("location") ?? "", peer.issuer);
    };
    await agent.submit({ login_name: loginName });
    const wrong = await sendTo("/ui/login/password", { password: "guessed-by-somebody" });
    assert.doesNotMatch(wrong.href, /guessed/);
    for (let nth = 0; nth < 2; nth += 1) {
      const shown = await agent.open(wrong);
      assert.match(shown.html, /data-problem|class="problem"|role="alert"/);
      assert.doesNotMatch(shown.html, /guessed-by-somebody/);
    }
    await agent.open(`/ui/login/register?flow=${flowOf(agent.last.url)}`);
    const incomplete = await sendTo("/ui/login/register", {
      given_name: "Grace",
      family_name: "",
      email: "grace@example.test",
    });
    for (let nth = 0; nth < 2; nth += 1) {
      const shown = await agent.open(incomplete);
      assert.match(shown.html, /value="Grace"/);
      assert.match(shown.html, /value="grace@example.test"/);
    }
    // Another browser, or another page, makes nothing of it.
    const stranger = await userAgent(peer.issuer).open(
      `/ui/login/register?form=${incomplete.searchParams.get("form")}`,
    );
    assert.doesNotMatch(stranger.html, /Grace/);
    const elsewhere = await agent.open(
      `/ui/login/loginname?form=${incomplete.searchParams.get("form")}`,
    );
    assert.doesNotMatch(elsewhere.html, /Grace/);
    // Only its problems come back where all of it is too long.
    const long = await sendTo("/ui/login/register", {
      given_name: "x".repeat(1_000),
      family_name: "x".repeat(1_000),
      email: "",
    });
    assert.ok(long.href.length < 4_096);
    assert.equal((await agent.open(long)).status, 200);
  });

  it("a language that is chosen before anything is entered goes along", async () => {
    const agent = await pages.begin();
    const { url } = agent.last;
    url.searchParams.set("ui_locales", "de");
    const earlier = await rowsOf("login_flows");
    const shown = await agent.open(url);
    assert.match(shown.html, /<html lang="de"/);
    assert.equal(await rowsOf("login_flows"), earlier);
    const next = await agent.submit({ login_name: "nobody" });
    assert.match(next.html, /<html lang="de"/);
  });
});
