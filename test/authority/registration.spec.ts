// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addPersonNamed, password } from "../support/login.ts";
import { codeIn, type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { found, rawStore } from "../support/raw-store.ts";
import { errorOf, type Shown, type UserAgent } from "../support/user-agent.ts";

let peer: OidcPeer;
let web: MadeClient;
let pages: LoginPages;

before(async () => {
  peer = await startOidc({ env: { IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1" } });
  web = await peer.addClient();
  pages = loginPages(peer, web);
});
after(() => peer[Symbol.asyncDispose]());

const freshAddress = () => `${uniqueName("nina").replace(" ", "")}@example.test`;
const newcomer = (email: string) => ({ given_name: "Nina", family_name: "Simone", email });

/** A browser in which somebody asks for an account. */
async function asking(email: string): Promise<UserAgent> {
  const agent = await pages.begin({ prompt: "create" });
  await agent.submit(newcomer(email));
  return agent;
}

async function proving(email: string): Promise<UserAgent> {
  const agent = await asking(email);
  const { to, code } = await pages.lastMail();
  assert.equal(to, email);
  assert.equal(pathOf(await agent.submit({ code })), "/ui/login/register/account");
  return agent;
}

const users = async () => bodyOf(await peer.post("/users/_search", [])).details.total_result;

/** What a page shows of itself, without what is anew in each. */
const shape = ({ status, html, url }: Shown, address: string) => ({
  status,
  path: url.pathname,
  html: html
    .replaceAll(address, "ADDRESS")
    .replaceAll(/nonce(="|-)[\w-]+/g, "nonce")
    .replaceAll(/name="(csrf|flow)" value="[^"]*"/g, "$1")
    .replaceAll(/flow=[\w-]+/g, "flow"),
});

describe("registration (J13)", () => {
  it("D50: is the same for an address that has an account; its owner is told so, and offered recovery", async () => {
    const taken = freshAddress();
    const owner = await addPersonNamed(peer, {
      contact: { email: { address: taken, is_verified: true } },
    });
    const free = freshAddress();
    const usersBefore = await users();
    const known = await asking(taken);
    const mail = await pages.lastMail();
    assert.deepEqual([mail.to, mail.subject], [taken, "You have an account already"]);
    assert.equal(mail.code, "");
    assert.ok(mail.text.includes(owner.loginName));
    assert.match(mail.text, /\/ui\/login\/password\/forgot/);
    const unknown = await asking(free);
    assert.deepEqual(shape(known.last, taken), shape(unknown.last, free));
    for (const values of [{ code: "BCDFGHJK" }, { resend: "true" }, { resend: "true" }]) {
      await known.submit(values);
      await unknown.submit(values);
      assert.deepEqual(shape(known.last, taken), shape(unknown.last, free));
    }
    assert.equal(await users(), usersBefore, "no account is made before the proof");
  });

  it("what an organization says of an address for itself keeps nobody out elsewhere", async () => {
    const email = freshAddress();
    const organization = await peer.addOrganization();
    const { token } = await peer.addMember(organization, ["ORG_OWNER"]);
    bodyOf(
      await peer.post(
        "/users",
        {
          username: uniqueName("squatter").replace(" ", "-"),
          data: { given_name: "S", family_name: "Q" },
          contact: { email: { address: email, is_verified: true } },
        },
        { token },
      ),
      201,
    );
    await proving(email);
  });

  it("D87: says plainly whether a login name is taken, once the address is proven", async () => {
    // Somebody has the address as their name, and so it cannot be that of whoever reads its mail.
    const email = freshAddress();
    await addPersonNamed(peer, { username: email });
    const other = await addPersonNamed(peer);
    const [taken = ""] = other.loginName.split("@");
    const agent = await proving(email);
    assert.match(agent.last.html, /name="login_name"/);
    const refused = await agent.submit({ login_name: taken, new_password: password });
    assert.equal(pathOf(refused), "/ui/login/register/account");
    assert.match(refused.html, /This login name is taken/);
    const name = uniqueName("nina").replace(" ", "-");
    codeIn(await agent.submit({ login_name: name, new_password: password }));
  });

  it("J12: names are tried twenty times an hour by one source", async () => {
    const email = freshAddress();
    await addPersonNamed(peer, { username: email });
    const [taken = ""] = (await addPersonNamed(peer)).loginName.split("@");
    const agent = await proving(email);
    const { url } = agent.last;
    const headers = { "x-forwarded-for": "203.0.113.77" };
    const tried = { login_name: taken, new_password: password };
    for (let count = 0; count < 20; count += 1) {
      assert.match((await agent.submit(tried, headers)).html, /This login name is taken/);
    }
    const free = {
      login_name: uniqueName("nina").replace(" ", "-"),
      new_password: password,
    };
    const refused = await agent.submit(free, headers);
    assert.equal(refused.status, 429);
    assert.equal(errorOf(refused), "RATE_LIMITED");
    await agent.open(url);
    const elsewhere = { "x-forwarded-for": "203.0.113.78" };
    codeIn(await agent.submit(free, elsewhere));
  });

  it("J14: what waits for the proof holds no code and no password, and is of one browser", async () => {
    const email = freshAddress();
    const agent = await asking(email);
    const { code } = await pages.lastMail();
    const bytes = await rawStore(peer.app.kernel.config);
    // The scan would find it: what is no secret is there.
    assert.deepEqual(found(bytes, [email, code]), [email]);
    const stranger = await pages.begin();
    const shown = await stranger.open(`/ui/login/verify${agent.last.url.search}`);
    assert.equal(errorOf(shown), "FLOW_NOT_FOUND");
  });
});
