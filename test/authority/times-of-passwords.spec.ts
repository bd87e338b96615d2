// Run: alone, long, costly
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addPersonNamed } from "../support/login.ts";
import { loginPages, type LoginPages } from "../support/login-pages.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import type { UserAgent } from "../support/user-agent.ts";
import { assertAlike, type Try, unknownName, type Whom, withoutBudgets } from "./alike.ts";

let peer: OidcPeer;
let pages: LoginPages;

before(async () => {
  peer = await startOidc({ env: withoutBudgets });
  pages = loginPages(peer, await peer.addClient());
});
after(() => peer[Symbol.asyncDispose]());

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
  const { refusal } = await peer.post("/sessions", { checks });
  assert.equal(refusal?.reason, "INVALID_CREDENTIALS");
}

const addName = async () => (await addPersonNamed(peer)).loginName;
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

describe("the times of answers to passwords, by a classifier (D49)", () => {
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
});
