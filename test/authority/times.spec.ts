// Run: alone, long, costly
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { loginPages, type LoginPages } from "../support/login-pages.ts";
import { type Directory, startDirectory } from "../support/directory.ts";
import { addPersonNamed } from "../support/login.ts";
import { basic, type MadeClient, paths } from "../support/oidc.ts";
import { startProviderWorld, type ProviderWorld } from "../login/provider-world.ts";
import { assertAlike, unknownName, withoutBudgets } from "./alike.ts";

let world: ProviderWorld;
let directory: Directory;
let web: MadeClient;
let pages: LoginPages;

before(async () => {
  const mona = {
    uid: "mona",
    password: "Mona's secret",
    employeeNumber: "1",
    sn: "L",
    mail: "m@d.test",
  };
  directory = await startDirectory([mona]);
  world = await startProviderWorld({ env: withoutBudgets });
  web = world.app;
  pages = loginPages(world.peer, web);
});
after(async () => {
  await world[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const addName = async () => (await addPersonNamed(world.peer)).loginName;

describe("the times of answers, by a classifier (D49, D50, J13)", () => {
  it("of a login name on the page", () =>
    assertAlike(async (whom) => {
      const name = await addName();
      return async () => {
        const agent = await pages.begin();
        return () => agent.submit({ login_name: whom === "somebody" ? name : unknownName() });
      };
    }));

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
      servers: [directory.url],
      base_dn: directory.baseDn,
      timeout: "2s",
      bind_dn: directory.bindDn,
      bind_password: directory.bindPassword,
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
