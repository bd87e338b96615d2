// Run: shared
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { lookUp } from "../../src/federation/ldap.ts";
import type { LdapConfig } from "../../src/federation/provider.ts";
import { type Span, within } from "../../src/telemetry/tracing.ts";
import { type Directory, startDirectory } from "../support/directory.ts";
import { codeIn, pathOf } from "../support/login-pages.ts";
import { bodyOf } from "../support/peer.ts";
import { errorOf, type Shown, type UserAgent } from "../support/user-agent.ts";
import { type ProviderWorld, startProviderWorld } from "../login/provider-world.ts";

const password = "Mona's secret";
const mona = {
  uid: "mona",
  password,
  givenName: "Mona",
  sn: "Lisa",
  mail: "mona@directory.test",
  employeeNumber: "4711",
};

let world: ProviderWorld;
let directory: Directory;
/** Makes an account of everybody. */
let open: string;

const config = (more: JsonObject = {}): JsonObject => ({
  servers: [directory.url],
  base_dn: directory.baseDn,
  bind_dn: directory.bindDn,
  bind_password: directory.bindPassword,
  timeout: "2s",
  attributes: {
    id_attribute: "employeeNumber",
    preferred_username_attribute: "uid",
    first_name_attribute: "givenName",
    last_name_attribute: "sn",
    email_attribute: "mail",
    email_verified_attribute: "title",
  },
  ...more,
});
const add = (more: JsonObject = {}) =>
  world.addIdp("ldap", config(more), { is_auto_creation: true });

before(async () => {
  directory = await startDirectory([
    mona,
    {
      uid: "lisa",
      password,
      employeeNumber: "4712",
      givenName: "Lisa",
      mail: "lisa@directory.test",
      title: "TRUE",
    },
    { uid: "twin", password, employeeNumber: "1", mail: "twin@directory.test" },
    { uid: "other", password, employeeNumber: "2", mail: "twin@directory.test" },
    { uid: "star", password, employeeNumber: "3", cn: "s*r" },
    { uid: "nameless", password },
  ]);
  world = await startProviderWorld();
  open = await add();
});
after(async () => {
  await world[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

async function begunLogIn(login_name: string, tried: string, idp = open): Promise<UserAgent> {
  const agent = await world.begin();
  const flow = agent.last.url.searchParams.get("flow") ?? "";
  const page = await agent.open(`/ui/login/idp?${new URLSearchParams({ flow, idp })}`);
  if (pathOf(page) === "/ui/login/idp/password") {
    await agent.submit({ login_name, password: tried });
  }
  return agent;
}

const logIn = async (loginName: string, tried: string, idp = open): Promise<Shown> =>
  (await begunLogIn(loginName, tried, idp)).last;

async function refused(
  act: () => Promise<Shown>,
  told = "Login name or password is wrong",
): Promise<void> {
  const counts = [await world.userCount(), await world.sessionCount()];
  const shown = await act();
  assert.equal(pathOf(shown), "/ui/login/idp/password");
  assert.ok(shown.html.includes(told), shown.html);
  assert.deepEqual([await world.userCount(), await world.sessionCount()], counts);
}

describe("a provider that is a directory", () => {
  it("asks for name and password on a page of ours, and logs its users in", async () => {
    const shown = await logIn("mona", password);
    assert.equal(pathOf(shown), "/ui/login/verify");
    // Nobody has proven the address yet: that may be put off.
    const again = await begunLogIn("MONA", password);
    assert.equal(pathOf(again.last), "/ui/login/verify");
    codeIn(await again.submit({ skip: "true" }));
    const [last] = (await world.peer.events("user.human.externalidp.added")).slice(-1);
    const { user } = bodyOf(await world.peer.get(`/users/${last?.aggregateId}`)).user;
    assert.equal(user.username, "mona");
    assert.deepEqual([user.data.given_name, user.data.family_name], ["Mona", "Lisa"]);
    assert.equal(user.authenticators.identity_providers[0].user_id, "4711");
    // An attribute of the directory may say that the address is proven.
    codeIn(await logIn("lisa", password));
  });

  it("lets nobody in by a wrong, empty or foreign password, nor by a name that nobody has", async () => {
    for (const [name, tried] of [
      ["mona", "wrong"],
      ["nobody", password],
      ["mona", `${password}\0`],
      [directory.bindDn, directory.bindPassword],
    ] as const) {
      await refused(() => logIn(name, tried));
    }
    for (const [name, tried] of [
      ["mona", ""],
      ["", password],
    ] as const) {
      await refused(() => logIn(name, tried), "Please fill in this field.");
    }
  });

  it("is asked by spans of the work that asks, where that is traced", async () => {
    const asked: string[] = [];
    const span: Span = {
      traceId: "",
      isSampled: true,
      headers: () => ({}),
      child({ name }) {
        asked.push(name);
        return span;
      },
      note() {},
      join() {},
      end(failure) {
        if (failure !== undefined) asked.push(failure);
      },
    };
    const egress = {
      connect: async ({ host, port }: { host: string; port: number }) => connect({ host, port }),
    };
    const { url, baseDn, bindDn, bindPassword } = directory;
    const asks: LdapConfig = {
      type: "ldap",
      servers: [url],
      startTls: false,
      baseDn,
      bindDn,
      userBase: "dn",
      userObjectClasses: [],
      userFilters: ["uid"],
      timeoutMs: 2_000,
      rootCa: undefined,
      attributes: { id: "employeeNumber" },
    };
    for (const tried of [password, "wrong"]) {
      asked.length = 0;
      await within(span, () =>
        lookUp(egress, asks, bindPassword, { username: "mona", password: tried }),
      );
      assert.deepEqual(asked, ["LDAP bind", "LDAP search", "LDAP bind"]);
    }
  });

  it("takes a name as a name, never as a part of its filter", async () => {
    for (const name of [
      "*",
      "m*",
      "mona)(uid=*",
      "*)(objectClass=*",
      "mona\\2a",
      "\\6dona",
      "mona,dc=directory,dc=test",
      ")",
      "\0",
      "x".repeat(5_000),
    ]) {
      await refused(() => logIn(name, password));
    }
    const byName = await add({ user_filters: ["cn"] });
    assert.equal(errorOf(await logIn("s*r", password, byName)), "PROVIDER_NO_ACCOUNT");
  });

  it("lets nobody in by a name that two have, nor who has no id", async () => {
    const byMail = await add({ user_filters: ["mail"] });
    await refused(() => logIn("twin@directory.test", password, byMail));
    assert.equal(pathOf(await logIn("mona@directory.test", password, byMail)), "/ui/login/verify");
    const shown = await logIn("nameless", password);
    assert.equal(errorOf(shown), "PROVIDER_FAILED");
    assert.match(shown.html, /IDP_ANSWER_INVALID: .*the entry has no employeeNumber/);
  });

  it("is asked over TLS, and only where the authority vouches for it", async () => {
    const root_ca = Buffer.from(directory.ca).toString("base64");
    for (const more of [
      { servers: [directory.tlsUrl], root_ca },
      { start_tls: true, root_ca },
    ]) {
      const shown = await logIn("lisa", password, await add(more));
      assert.equal(shown.left?.origin ?? pathOf(shown), "https://rp.test");
    }
    for (const more of [{ servers: [directory.tlsUrl] }, { start_tls: true }]) {
      assert.equal(errorOf(await logIn("mona", password, await add(more))), "PROVIDER_UNAVAILABLE");
    }
  });

  it("is looked for at the next server where one does not answer", async () => {
    const servers = ["ldap://localhost:1", directory.url];
    assert.equal(
      pathOf(await logIn("mona", "wrong", await add({ servers }))),
      "/ui/login/idp/password",
    );
  });

  it("X13: is no way to places that the service may not reach", async () => {
    for (const server of ["ldap://169.254.169.254", "ldap://10.0.0.1:389"]) {
      const answer = await world.peer.post("/idps/ldap", {
        idp: { name: server },
        config: config({ servers: [server] }),
      });
      const shown = await logIn("mona", password, bodyOf(answer, 201).details.id);
      assert.equal(errorOf(shown), "PROVIDER_UNAVAILABLE");
    }
  });

  it("tells whoever runs it that its own password is wrong", async () => {
    const shown = await logIn("mona", password, await add({ bind_password: "wrong" }));
    assert.equal(errorOf(shown), "PROVIDER_FAILED");
    assert.match(shown.html, /IDP_CONFIG_INVALID: .*bind_dn or bind_password/);
  });

  it("answers a login page of one's own at once", async () => {
    const start = (tried: string) =>
      world.peer.post("/idp_intents", {
        idp_id: open,
        ldap: { username: "mona", password: tried },
      });
    const { refusal } = await start("wrong");
    assert.deepEqual([refusal?.code, refusal?.reason], [3, "IDP_CREDENTIALS_INVALID"]);
    const { idp_intent } = bodyOf(await start(password));
    const { idp_intent_id, idp_intent_token, user_id } = idp_intent;
    assert.ok(user_id);
    const query = new URLSearchParams({ idp_intent_token });
    const said = bodyOf(await world.peer.get(`/idp_intents/${idp_intent_id}?${query}`));
    assert.equal(said.idp_information.ldap.attributes.uid, "mona");
    assert.equal(said.idp_information.ldap.attributes.userPassword, undefined);
    const checks = { user: { user_id }, idp_intent: { idp_intent_id, idp_intent_token } };
    bodyOf(await world.peer.post("/sessions", { checks }), 201);
  });

  it("F19: that is down stops only its own logins, and says so", async () => {
    const lost = await startDirectory([mona]);
    const idp = await add({ servers: [lost.url] });
    await lost.kill();
    await lost[Symbol.asyncDispose]();
    const shown = await logIn("mona", password, idp);
    assert.equal(errorOf(shown), "PROVIDER_UNAVAILABLE");
    assert.equal(shown.status, 503);
    assert.notEqual(errorOf(await logIn("mona", password)), "PROVIDER_UNAVAILABLE");
  });
});
