// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startProviderWorld, type ProviderWorld } from "../login/provider-world.ts";
import { type Directory, startDirectory } from "../support/directory.ts";
import { pathOf } from "../support/login-pages.ts";
import { bodyOf } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { errorOf } from "../support/user-agent.ts";

const password = "Mona's secret";
let world: ProviderWorld;
let directory: Directory;
let idp: string;
let sources = 0;
const stranger = () => ({ "x-forwarded-for": `203.0.113.${++sources}` });

before(async () => {
  const names = { givenName: "Mona", sn: "Lisa", mail: "mona@directory.test" };
  directory = await startDirectory([{ uid: "mona", password, employeeNumber: "4711", ...names }]);
  world = await startProviderWorld({
    env: { IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1", IDSVC_BUDGET_GUESSES: "5" },
  });
  const config = {
    servers: [directory.url],
    base_dn: directory.baseDn,
    bind_dn: directory.bindDn,
    bind_password: directory.bindPassword,
    timeout: "2s",
    attributes: {
      id_attribute: "employeeNumber",
      first_name_attribute: "givenName",
      last_name_attribute: "sn",
      email_attribute: "mail",
    },
  };
  idp = await world.addIdp("ldap", config, { is_auto_creation: true });
});
after(async () => {
  await world[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const byApi = (username: string, tried: string, headers: Record<string, string>) =>
  world.peer.peer.rest(
    "POST",
    "/resources/v3alpha/idp_intents",
    { idp_id: idp, ldap: { username, password: tried } },
    { token: world.peer.app.token, headers },
  );

/** How often the directory has refused somebody at this address. */
async function directoryRefusals(headers: { "x-forwarded-for": string }): Promise<number> {
  const kind = { kind: { kind: "REFUSAL_KIND_LOGIN" } };
  const { result = [] } = bodyOf(await world.peer.post("/refusals/_search", [kind]));
  return result.filter(
    (each: { reason: string; identity_provider_id?: string; origin?: { address?: string } }) =>
      each.reason === "DIRECTORY_REFUSED" &&
      each.identity_provider_id === idp &&
      each.origin?.address === headers["x-forwarded-for"],
  ).length;
}

describe("D84: wrong passwords of a directory (J12, L8)", () => {
  it("count against the source over the API, for names that are there and names that are not", async () => {
    const headers = stranger();
    for (const name of ["mona", "nobody", "mona", "no-one", "mona"]) {
      const { refusal } = await byApi(name, "wrong", headers);
      assert.notEqual(refusal?.reason, "BUDGET_SPENT");
    }
    for (const tried of ["wrong", password]) {
      const refused = await byApi("mona", tried, headers);
      assert.equal(refused.status, 429);
      assertRefused(refused.refusal, { code: 8, reason: "BUDGET_SPENT" });
      assert.ok(Number(refused.headers["retry-after"]) >= 1);
    }
    bodyOf(await byApi("mona", password, stranger()));
  });

  it("are records with their source (J15)", async () => {
    const headers = stranger();
    assert.equal(await directoryRefusals(headers), 0);
    await byApi("mona", "wrong", headers);
    for (let waited = 0; (await directoryRefusals(headers)) < 1; waited += 50) {
      assert.ok(waited < 60_000);
      await delay(50);
    }
  });

  it("and on the page, with those of users of ours; what is right costs nothing", async () => {
    const headers = stranger();
    const agent = await world.begin();
    const { url } = agent.last;
    const flow = url.searchParams.get("flow") ?? "";
    const page = `/ui/login/idp/password?${new URLSearchParams({ flow, idp })}`;
    await agent.open(page);
    for (let count = 0; count < 4; count += 1) {
      const wrong = await agent.submit({ login_name: "mona", password: "wrong" }, headers);
      assert.equal(pathOf(wrong), "/ui/login/idp/password");
      assert.equal(wrong.status, 200);
    }
    await agent.open(`/ui/login/loginname?flow=${flow}`);
    await agent.submit({ login_name: "nobody" });
    assert.equal((await agent.submit({ password: "wrong" }, headers)).status, 200);
    await agent.open(page);
    const refused = await agent.submit({ login_name: "mona", password }, headers);
    assert.equal(refused.status, 429);
    assert.equal(errorOf(refused), "RATE_LIMITED");
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
    await agent.open(page);
    const right = await agent.submit({ login_name: "mona", password }, stranger());
    assert.equal(pathOf(right), "/ui/login/verify");
  });
});
