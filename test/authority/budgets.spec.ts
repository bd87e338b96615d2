// Run: shared
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { metricsHeaders, startTestApp } from "../support/app.ts";
import { addPersonNamed, authorizeUrl, password } from "../support/login.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { sessionTokenFor } from "../support/session-token.ts";
import { userAgent } from "../support/user-agent.ts";

const spent =
  (budget: string) =>
  (refused: { refusal: { metadata: Record<string, string>; retryAfterSeconds?: number } }) => {
    assertRefused(refused.refusal as never, { code: 8, reason: "BUDGET_SPENT" });
    assert.equal(refused.refusal.metadata["budget"], budget);
  };

let peer: OidcPeer;
let web: MadeClient;
let addresses = 0;
/** A client that nobody has heard of before, behind a proxy that is trusted. */
const stranger = () => ({ "x-forwarded-for": `203.0.113.${++addresses}` });

before(async () => {
  peer = await startOidc({
    env: {
      IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1",
      IDSVC_BUDGET_GUESSES: "5",
      IDSVC_BUDGET_FLOWS: "8",
      IDSVC_BUDGET_MESSAGES: "6",
      IDSVC_BUDGET_RECIPIENT_MESSAGES: "2",
      IDSVC_BUDGET_SENDER_MESSAGES: "4",
    },
  });
  web = await peer.addClient();
});
after(() => peer[Symbol.asyncDispose]());

const attempt = (user_id: string, tried: string, headers: Record<string, string>) =>
  peer.peer.rest(
    "POST",
    "/resources/v3alpha/sessions",
    { checks: { user: { user_id }, password: { password: tried } } },
    { token: peer.app.token, headers },
  );

describe("what one source may cost (J12)", () => {
  it("D82: wrong passwords of names that exist and names that do not, together", async () => {
    const { id } = await addPersonNamed(peer);
    const headers = stranger();
    for (const name of [id, "nobody", id, "no-one", id]) {
      const { refusal } = await attempt(name, "wrong", headers);
      assert.notEqual(refusal?.reason, "BUDGET_SPENT");
    }
    for (const tried of ["wrong", password]) {
      const refused = await attempt(id, tried, headers);
      assert.equal(refused.status, 429);
      assert.ok(Number(refused.headers["retry-after"]) >= 1);
      spent("guesses")(refused as never);
    }
    const session = {
      checks: {
        user: { search: { case: "userId" as const, value: id } },
        password: { password },
      },
    };
    const overGrpc = await peer.peer.call(
      "grpc",
      SessionService.method.createSession,
      { session },
      {
        token: peer.app.token,
        headers,
      },
    );
    assertRefused(overGrpc, { code: 8, reason: "BUDGET_SPENT" });
    // Another source, and a header of somebody in front of the proxy, change nothing for others.
    bodyOf(await attempt(id, password, stranger()), 201);
    const lied = { "x-forwarded-for": `198.51.100.9, ${headers["x-forwarded-for"]}` };
    assert.equal((await attempt(id, password, lied)).status, 429);
  });

  it("passwords that are right cost nothing", async () => {
    const { id } = await addPersonNamed(peer);
    const headers = stranger();
    for (let count = 0; count < 12; count += 1) {
      bodyOf(await attempt(id, password, headers), 201);
    }
  });

  it("is told on a page, and the flow goes on where it was", async () => {
    const { loginName } = await addPersonNamed(peer);
    const headers = stranger();
    const agent = userAgent(peer.issuer);
    await agent.open(authorizeUrl(peer, web), { headers });
    await agent.submit({ login_name: loginName }, headers);
    const { url } = agent.last;
    for (let count = 0; count < 5; count += 1) await agent.submit({ password: "wrong" }, headers);
    const refused = await agent.submit({ password: "wrong" }, headers);
    assert.equal(refused.status, 429);
    assert.match(refused.html, /data-error="RATE_LIMITED"/);
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
    await agent.open(url);
    const done = await agent.submit({ password }, stranger());
    assert.equal(done.left?.searchParams.has("code"), true, done.html.slice(0, 500));
  });

  it("log-ins that are begun", async () => {
    const headers = stranger();
    const statuses: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      const answer = await fetch(authorizeUrl(peer, web), { headers, redirect: "manual" });
      statuses.push(answer.status);
      if (answer.status === 429) {
        assert.match(await answer.text(), /data-error="RATE_LIMITED"/);
        assert.ok(Number(answer.headers.get("retry-after")) >= 1);
      }
    }
    assert.deepEqual(statuses.slice(8), [429, 429]);
    assert.ok(statuses.slice(0, 8).every((status) => status === 302 || status === 303));
  });

  it("D85: codes that people have sent for their own account, by source, recipient and sender", async () => {
    const send = async (id: string, address: string, headers: Record<string, string>) => {
      const token = await sessionTokenFor(peer.app, id);
      return peer.peer.rest(
        "PUT",
        `/resources/v3alpha/users/${id}/email`,
        { address, send_code: {} },
        {
          token,
          headers,
        },
      );
    };
    const one = await addPersonNamed(peer);
    const other = await addPersonNamed(peer);
    const headers = stranger();
    const third = await addPersonNamed(peer);
    const taken = "forty@example.test";
    bodyOf(await send(one.id, taken, headers));
    bodyOf(await send(other.id, taken, headers));
    // Another spelling is no other mailbox.
    const toRecipient = await send(third.id, taken.toUpperCase(), stranger());
    assert.equal(toRecipient.status, 429);
    spent("messages")(toRecipient as never);
    for (const name of ["a", "b", "c"]) {
      bodyOf(await send(one.id, `${name}@example.test`, headers));
    }
    const bySender = await send(one.id, "d@example.test", stranger());
    spent("messages")(bySender as never);
    bodyOf(await send(other.id, "e@example.test", headers));
    const bySource = await send(other.id, "f@example.test", headers);
    spent("messages")(bySource as never);
    // What was refused changed nothing.
    const { user } = bodyOf(
      await peer.peer.rest("GET", `/resources/v3alpha/users/${other.id}`, undefined, {
        token: peer.app.token,
      }),
    );
    assert.equal(user.user.contact.email.address, "e@example.test");
  });

  it("is counted, by budgets and never by sources", async () => {
    const metrics = await (
      await fetch(`${peer.issuer}/metrics`, { headers: metricsHeaders })
    ).text();
    assert.match(metrics, /idsvc_budget_refusals_total\{budget="guesses"\} [1-9]/);
    assert.doesNotMatch(metrics, /203\.0\.113/);
  });
});

describe("wrong codes of one source (J12)", () => {
  const reset = "/ui/login/password/reset";
  /** Sends the form of a page again and again, and returns what came of each. */
  async function guesses(path: string, values: Record<string, string>) {
    const headers = stranger();
    const agent = userAgent(peer.issuer, new Map(), headers);
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) {
      await agent.open(path);
      statuses.push((await agent.submit(values)).status);
    }
    // Codes and passwords are of one budget.
    const { id } = await addPersonNamed(peer);
    statuses.push((await attempt(id, password, headers)).status);
    return statuses;
  }
  const refusedAtLast = [200, 200, 200, 200, 200, 429, 429];

  it("D90: of forgotten passwords count alike for names that exist and names that do not", async () => {
    const { loginName } = await addPersonNamed(peer);
    for (const name of [loginName, "nobody@example.test"]) {
      const path = `${reset}?${new URLSearchParams({ login_name: name })}`;
      const tried = { code: "WRONG", new_password: password, new_password_again: password };
      assert.deepEqual(await guesses(path, tried), refusedAtLast, name);
    }
  });

  it("D90: of forgotten passwords are sent, or not, at one cost", async () => {
    const { loginName } = await addPersonNamed(peer, {
      contact: { email: { address: "forgetful@example.test", is_verified: true } },
    });
    for (const name of [loginName, "nobody@example.test"]) {
      const headers = stranger();
      const ask = async (login_name: string) => {
        const agent = userAgent(peer.issuer, new Map(), headers);
        await agent.open("/ui/login/password/forgot");
        return (await agent.submit({ login_name })).status;
      };
      for (let count = 0; count < 6; count += 1) assert.equal(await ask(`no-one-${count}`), 200);
      assert.equal(await ask(name), 429, name);
    }
  });

  it("D90: of forgotten passwords tell nothing of who exists by what the new password is like", async () => {
    const { loginName } = await addPersonNamed(peer);
    const shown = new Set<string>();
    for (const name of [loginName, "nobody@example.test"]) {
      const agent = userAgent(peer.issuer, new Map(), stranger());
      await agent.open(`${reset}?${new URLSearchParams({ login_name: name })}`);
      const { status, html } = await agent.submit({ code: "WRONG", new_password: "short" });
      shown.add(`${status} ${html.match(/<p class="problem[^>]*>[^<]*/g)?.join(" ")}`);
      assert.match(html, /This code is wrong/);
    }
    assert.equal(shown.size, 1, [...shown].join("\n"));
  });

  it("D90: of links that mails have count alike for users that exist and users that do not", async () => {
    const { id } = await addPersonNamed(peer);
    for (const user_id of [id, "404"]) {
      const query = new URLSearchParams({ user_id, code: "WRONG", code_id: "1" });
      for (const page of ["verify/email", "recover", "passkey/register"]) {
        const tried = { new_password: password, code: "WRONG", user_id };
        const statuses = await guesses(`/ui/login/${page}?${query}`, tried);
        assert.deepEqual(statuses, refusedAtLast, `${page} ${user_id}`);
      }
    }
  });

  it("of devices count too", async () => {
    assert.deepEqual(await guesses("/device", { user_code: "BCDF-GHJK" }), refusedAtLast);
  });
});

describe("D86: connections of one source (J12)", () => {
  it("are closed beyond their number, and those of others are not", async () => {
    // Sources in private networks have fifty times as many.
    await using app = await startTestApp({ env: { IDSVC_BUDGET_CONNECTIONS: "1" } });
    const open = async () => {
      const socket = connect(app.port, "127.0.0.1");
      socket.on("error", () => {});
      await once(socket, "connect");
      return socket;
    };
    const sockets = await Promise.all(Array.from({ length: 50 }, open));
    const refused = await open();
    await once(refused, "close");
    assert.equal(sockets.filter(({ closed }) => closed).length, 0);
    sockets[0]?.destroy();
    await once(sockets[0] as Socket, "close");
    const answered = await (async () => {
      for (;;) {
        const answer = await fetch(`${app.url}/healthz`).catch(() => undefined);
        if (answer !== undefined) return answer.status;
      }
    })();
    assert.equal(answered, 200);
    for (const socket of sockets) socket.destroy();
  });
});
