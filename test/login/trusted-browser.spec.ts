// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { authorizeUrl, password, signIn } from "../support/login.ts";
import { pathOf } from "../support/login-pages.ts";
import {
  basic,
  type MadeClient,
  type OidcPeer,
  paths,
  redirectUri,
  startOidc,
} from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { answerOf, type UserAgent, userAgent } from "../support/user-agent.ts";
import { personWithTotp } from "./people.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let peer: OidcPeer;
let client: MadeClient;

const set = (lifetime: string) =>
  peer.peer.rest(
    "PATCH",
    "/settings/v3alpha/login",
    { trusted_browser_lifetime: { set: lifetime } },
    { token: peer.app.token },
  );

before(async () => {
  peer = await startOidc();
  client = await peer.addClient();
});
after(() => peer[Symbol.asyncDispose]());

type Person = Awaited<ReturnType<typeof personWithTotp>>;

/** Gives name and password; the page that comes then. */
async function enter(agent: UserAgent, { loginName }: Person, more = {}) {
  await agent.open(authorizeUrl(peer, client, more));
  return signIn(agent, loginName);
}

/** Logs in with both factors, and trusts the browser. */
async function trusting(person: Person, agent = userAgent(peer.issuer)): Promise<UserAgent> {
  assert.equal(pathOf(await enter(agent, person)), "/ui/login/mfa/totp");
  const done = await agent.submit({ code: person.next(), trust: "true" });
  assert.ok(done.left !== undefined, done.html);
  return agent;
}

async function logOut(agent: UserAgent): Promise<void> {
  const shown = await agent.open("/ui/login/logout");
  // Where nobody is logged in, nothing is asked.
  if (pathOf(shown) === "/ui/login/logout") await agent.submit({});
}

/** Whether somebody who logs in anew is let in by their password alone. */
async function isSpared(agent: UserAgent, person: Person): Promise<boolean> {
  await logOut(agent);
  const shown = await enter(agent, person);
  if (shown.left !== undefined) return true;
  assert.equal(pathOf(shown), "/ui/login/mfa/totp");
  return false;
}

describe("a trusted browser (L6)", () => {
  it("is not offered where the settings let nobody trust one, and nobody who says so is believed", async () => {
    const alice = await personWithTotp(peer);
    const agent = userAgent(peer.issuer);
    assert.doesNotMatch((await enter(agent, alice)).html, /name="trust"/);
    await agent.submit({ code: alice.next(), trust: "true" });
    assert.equal(await isSpared(agent, alice), false);
  });

  it("may be trusted for 720 hours at most", async () => {
    for (const wrong of ["2592001s", "-1s"]) {
      const { refusal } = await set(wrong);
      assertRefused(refusal, {
        code: 3,
        reason: "VALIDATION_FAILED",
        field: "settings.trusted_browser_lifetime",
      });
    }
    bodyOf(await set("2592000s"));
  });

  it("spares its user the second factor there, and nowhere else; what it does not prove no token tells", async () => {
    const [alice, bob] = [await personWithTotp(peer), await personWithTotp(peer)];
    const agent = await trusting(alice);
    assert.equal(await isSpared(agent, alice), true);
    const code = answerOf(agent.last).get("code") ?? "";
    const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
    const { body } = await peer.send(paths.token, form, basic(client));
    const { amr, acr } = decodeJwt(body.id_token);
    assert.deepEqual(amr, ["pwd"]);
    assert.doesNotMatch(String(acr), /mfa/);
    assert.equal(await isSpared(userAgent(peer.issuer), alice), false);
    assert.equal(await isSpared(agent, bob), false);
  });

  it("is asked whether it is trusted, by a box that is not ticked and stays ticked after a wrong code", async () => {
    const alice = await personWithTotp(peer);
    const agent = userAgent(peer.issuer);
    const asked = await enter(agent, alice);
    assert.match(asked.html, /<input type="checkbox" name="trust" value="true">/);
    assert.match(asked.html, /Trust this browser for 30 days/);
    const wrong = await agent.submit({ code: "000000", trust: "true" });
    assert.match(wrong.html, /<input type="checkbox" name="trust" value="true" checked>/);
    assert.equal(await isSpared(agent, alice), false);
  });

  it("does not spare what an app asks for itself", async () => {
    const alice = await personWithTotp(peer);
    const agent = await trusting(alice);
    await logOut(agent);
    const acr_values = "urn:idsvc:acr:mfa";
    assert.equal(pathOf(await enter(agent, alice, { acr_values })), "/ui/login/mfa/totp");
  });

  it("is trusted no longer than the settings of now say, and its sessions act no longer than that", async () => {
    const alice = await personWithTotp(peer);
    const agent = await trusting(alice);
    assert.equal(await isSpared(agent, alice), true);
    const { result } = bodyOf(await peer.post("/sessions/_search", [{ user_id: alice.id }]));
    assert.deepEqual(
      result.map(({ lacks }: { lacks: string[] }) => lacks),
      [[]],
    );
    bodyOf(await set("3600s"));
    peer.pass(hourMs + 1_000);
    const later = bodyOf(await peer.post("/sessions/_search", [{ user_id: alice.id }]));
    assert.deepEqual(
      later.result.map(({ lacks }: { lacks: string[] }) => lacks),
      [["second_factor"]],
    );
    bodyOf(await set("2592000s"));
    assert.equal(await isSpared(agent, alice), true);
    bodyOf(await set("0s"));
    assert.equal(await isSpared(agent, alice), false);
    bodyOf(await set("2592000s"));
    peer.pass(31 * dayMs);
    assert.equal(await isSpared(agent, alice), false);
  });

  it("is not trusted by a recovery code: whoever needs one has lost something", async () => {
    const alice = await personWithTotp(peer);
    const made = bodyOf(await peer.post(`/users/${alice.id}/recovery_codes`));
    const agent = userAgent(peer.issuer);
    const asked = await enter(agent, alice);
    const flow = asked.url.searchParams.get("flow") ?? "";
    const page = await agent.open(`/ui/login/mfa/recovery?${new URLSearchParams({ flow })}`);
    assert.doesNotMatch(page.html, /name="trust"/);
    const done = await agent.submit({ code: made.recovery_codes[0], trust: "true" });
    assert.ok(done.left !== undefined, done.html);
    assert.equal(await isSpared(agent, alice), false);
  });
});

describe("the trust in a browser ends (L6)", () => {
  const sessionOf = async ({ id }: Person) =>
    bodyOf(await peer.post("/sign_ins/_search", [{ user_id: id }])).result;

  const endings: [string, (person: Person) => Promise<void>][] = [
    [
      "with a password that is set",
      async ({ id }) => void bodyOf(await peer.post(`/users/${id}/password`, { password })),
    ],
    [
      "with a factor that is removed",
      async ({ id }) => {
        const address = "second@example.test";
        const added = { address, is_verified: true };
        const { otp_email_id } = bodyOf(await peer.post(`/users/${id}/otp_email`, added));
        bodyOf(await peer.remove(`/users/${id}/otp_email/${otp_email_id}`));
      },
    ],
    [
      "with a lock, also when that is lifted",
      async ({ id }) => {
        bodyOf(await peer.post(`/users/${id}/_lock`));
        bodyOf(await peer.post(`/users/${id}/_unlock`));
      },
    ],
    [
      "with the end of all other sessions",
      async ({ id }) => void bodyOf(await peer.post("/sessions/_end_others", { user_id: id })),
    ],
    [
      "with the sign-in there",
      async (person) => {
        const [{ details }] = await sessionOf(person);
        bodyOf(await peer.remove(`/sign_ins/${details.id}`));
      },
    ],
  ];
  for (const [when, end] of endings) {
    it(when, async () => {
      const alice = await personWithTotp(peer);
      const agent = await trusting(alice);
      assert.equal(await isSpared(agent, alice), true);
      await end(alice);
      // Sessions that were spared before are spared no more either.
      for (const { session_ids } of await sessionOf(alice)) {
        const { session } = bodyOf(await peer.get(`/sessions/${session_ids[0]}`));
        assert.deepEqual(session.lacks, ["second_factor"]);
      }
      assert.equal(await isSpared(agent, alice), false);
    });
  }

  it("in other browsers alone, where all other sessions are ended from this one", async () => {
    const alice = await personWithTotp(peer);
    const [here, elsewhere] = [await trusting(alice), await trusting(alice)];
    const [, { session_ids }] = await sessionOf(alice);
    const request = { user_id: alice.id, session_id: session_ids[0] };
    assert.equal(bodyOf(await peer.post("/sessions/_end_others", request)).ended, 1);
    assert.equal(await isSpared(here, alice), true);
    assert.equal(await isSpared(elsewhere, alice), false);
  });
});
