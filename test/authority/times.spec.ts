// Run: alone, long
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { loginPages, type LoginPages } from "../support/login-pages.ts";
import { areaUnderCurve, errorOfArea, mostAdvantage } from "../support/classifier.ts";
import { type Directory, startDirectory } from "../support/directory.ts";
import { addPersonNamed } from "../support/login.ts";
import { basic, type MadeClient, paths } from "../support/oidc.ts";
import { startProviderWorld, type ProviderWorld } from "../login/provider-world.ts";
import type { UserAgent } from "../support/user-agent.ts";

type Whom = "somebody" | "nobody";
/** Makes one try of a stranger ready; the time of what it returns is measured. */
type Try = () => Promise<() => Promise<unknown>>;

const workers = 6;
const leastTries = 300;
// The standard error is a quarter of what a classifier may win by then.
const mostTries = 1_500;
// How many standard errors make a result clear before.
const clear = 2.5;

let world: ProviderWorld;
let directory: Directory;
let web: MadeClient;
let pages: LoginPages;
let names = 0;
const unknownName = () => `nobody${names++}@example.test`;

before(async () => {
  const mona = {
    uid: "mona",
    password: "Mona's secret",
    employeeNumber: "1",
    sn: "L",
    mail: "m@d.test",
  };
  directory = await startDirectory([mona]);
  // What a source may do is the same for names that exist and names that do not: that is tried elsewhere.
  const ofSources = ["GUESSES", "MESSAGES", "REGISTRATIONS", "FLOWS", "UNAUTHENTICATED"];
  world = await startProviderWorld({
    env: Object.fromEntries(ofSources.map((name) => [`IDSVC_BUDGET_${name}`, "0"])),
  });
  web = world.app;
  pages = loginPages(world.peer, web);
});
after(async () => {
  await world[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

/**
 * Asserts that times tell somebody from nobody no better than chance, by 0.05. Both are tried by turns in an order that is drawn
 * anew each time, so that what else the machine does falls on both alike, and as often as it takes until the area is clearly on
 * one side of the bound.
 */
async function assertAlike(begin: (whom: Whom, worker: number) => Promise<Try>): Promise<void> {
  const times: Record<Whom, number[]> = { somebody: [], nobody: [] };
  let isClear = false;
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      const tries = {
        somebody: await begin("somebody", worker),
        nobody: await begin("nobody", worker),
      };
      while (!isClear) {
        const both: Whom[] = Math.random() < 0.5 ? ["somebody", "nobody"] : ["nobody", "somebody"];
        for (const whom of both) {
          const attempt = await tries[whom]();
          const started = performance.now();
          await attempt();
          times[whom].push(performance.now() - started);
        }
        isClear ||= isDecided(times);
      }
    }),
  );
  const area = areaUnderCurve(times.somebody, times.nobody);
  const told = `area ${area.toFixed(3)} of ${times.nobody.length}, medians ${median(times.somebody)} and ${median(times.nobody)} ms`;
  assert.ok(Math.abs(area - 0.5) <= mostAdvantage, told);
}

function isDecided({ somebody, nobody }: Record<Whom, number[]>): boolean {
  const count = Math.min(somebody.length, nobody.length);
  if (count < leastTries) return false;
  if (count >= mostTries) return true;
  const advantage = Math.abs(areaUnderCurve(somebody, nobody) - 0.5);
  return Math.abs(advantage - mostAdvantage) > clear * errorOfArea(count);
}

const median = (all: readonly number[]): number =>
  Math.round(all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0);

/** A browser at the page of a password, for a name. */
async function atPassword(loginName: string): Promise<UserAgent> {
  const agent = await pages.begin();
  const { url } = await agent.submit({ login_name: loginName });
  assert.equal(url.pathname, "/ui/login/password");
  return agent;
}

async function guessOnPage(agent: UserAgent): Promise<void> {
  const { status, html } = await agent.submit({ password: "wrong" });
  assert.equal(status, 200);
  assert.match(html, /Login name or password is wrong/);
}
async function guessByApi(login_name: string): Promise<void> {
  const checks = { user: { login_name }, password: { password: "wrong" } };
  const { refusal } = await world.peer.post("/sessions", { checks });
  assert.equal(refusal?.reason, "INVALID_CREDENTIALS");
}

const addName = async () => (await addPersonNamed(world.peer)).loginName;
/** Somebody of whom no more passwords are looked at. */
async function addClosedName(): Promise<string> {
  const name = await addName();
  for (let count = 0; count < 12; count += 1) await guessByApi(name);
  return name;
}

// Fewer than a person may have where most are allowed.
const guessesEach = 80;

/** Guesses at one name after the other, on a page that is opened for each name or by the API. */
function guesses(nameOf: () => Promise<string>) {
  const inTurn = <T>(
    open: (name: string) => T | Promise<T>,
    guess: (at: T) => Promise<void>,
  ): Try => {
    let left = 0;
    let opened: T;
    return async () => {
      if (left === 0) {
        opened = await open(await nameOf());
        left = guessesEach;
      }
      left -= 1;
      return () => guess(opened);
    };
  };
  return {
    onPage: () => inTurn(atPassword, guessOnPage),
    byApi: () => inTurn((name) => name, guessByApi),
  };
}

describe("the times of answers, by a classifier (D49, D50, J13)", () => {
  it("of a login name on the page", () =>
    assertAlike(async (whom) => {
      const name = await addName();
      return async () => {
        const agent = await pages.begin();
        return () => agent.submit({ login_name: whom === "somebody" ? name : unknownName() });
      };
    }));

  const states: [name: string, most: string, add: () => Promise<string>][] = [
    ["of a wrong password", "100", addName],
    ["of a wrong password, where the attempts of the person are spent", "10", addClosedName],
  ];
  for (const [state, most, add] of states) {
    describe(state, () => {
      before(() => pages.change("login", { max_password_attempts: { set: most } }));
      const of = (whom: Whom) => guesses(whom === "somebody" ? add : async () => unknownName());
      it("on the page", () => assertAlike(async (whom) => of(whom).onPage()));
      it("by the API", () => assertAlike(async (whom) => of(whom).byApi()));
    });
  }

  it("of a password that is forgotten: the first mail, and those that are not sent any more", () =>
    assertAlike(async (whom) => {
      const people: string[] = [];
      while (people.length < 40) people.push(await addName());
      const agent = await pages.begin();
      let turn = 0;
      return async () => {
        const login_name = (whom === "somebody" && people[turn++ % people.length]) || unknownName();
        await agent.open("/ui/login/password/forgot");
        return () => agent.submit({ login_name });
      };
    }));

  it("of a registration", () =>
    assertAlike(async (whom, worker) => {
      const taken = `taken${worker}@example.test`;
      await addPersonNamed(world.peer, {
        contact: { email: { address: taken, is_verified: true } },
      });
      return async () => {
        const agent = await pages.begin({ prompt: "create" });
        const email = whom === "somebody" ? taken : unknownName();
        return () => agent.submit({ given_name: "Nina", family_name: "Simone", email });
      };
    }));

  it("of a password of a directory", async () => {
    const idp = await world.addIdp("ldap", {
      ...{ servers: [directory.url], base_dn: directory.baseDn, timeout: "2s" },
      ...{ bind_dn: directory.bindDn, bind_password: directory.bindPassword },
      attributes: {
        id_attribute: "employeeNumber",
        last_name_attribute: "sn",
        email_attribute: "mail",
      },
    });
    await assertAlike(async (whom) => async () => async () => {
      const username = whom === "somebody" ? "mona" : unknownName();
      const ldap = { username, password: "wrong" };
      const { status } = await world.peer.post("/idp_intents", { idp_id: idp, ldap });
      assert.equal(status, 400);
    });
  });

  it("of the secret of a client that is there, and of one that is not or is deactivated (D18)", async () => {
    const off = await world.peer.addClient();
    await world.peer.post(`/apps/${off.appId}/_deactivate`);
    await assertAlike(async (whom) => {
      let turn = 0;
      return async () => {
        const missing = turn++ % 2 === 0 ? "404" : off.clientId;
        const clientId = whom === "somebody" ? web.clientId : missing;
        const proof = basic({ clientId, secret: unknownName() });
        return async () => {
          const { status } = await world.peer.send(paths.introspect, { token: "x" }, proof);
          assert.equal(status, 401);
        };
      };
    });
  });
});
