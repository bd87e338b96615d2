// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { enqueue } from "../../src/jobs/job.ts";
import { organizationCreator } from "../../src/resources/org/index.ts";
import { type DomainClaim, domainClaimed, userEvents } from "../../src/resources/user/index.ts";
import { authorizeUrl, signIn } from "../support/login.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { noticesSent } from "../support/notices.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { userAgent } from "../support/user-agent.ts";

const type = "user.domain.claimed";
const validation_type = "DOMAIN_VALIDATION_TYPE_DNS";
const records = new Map<string, string[]>();
let peer: OidcPeer;
let mails: MailServer;
let client: MadeClient;

before(async () => {
  mails = await startMailServer();
  peer = await startOidc({
    resolver: { addresses: async () => [], texts: async (name) => records.get(name) ?? [] },
  });
  const sender = { sender_address: "no-reply@idsvc.test", sender_name: "Idsvc" };
  const provider = { ...sender, host: mails.host, state_policy: "STATE_POLICY_ACTIVATE" };
  bodyOf(await peer.post("/smtp_providers", provider), 201);
  client = await peer.addClient();
});
after(async () => {
  await peer[Symbol.asyncDispose]();
  await mails[Symbol.asyncDispose]();
});

const word = (kind: string) => uniqueName(kind).replace(" ", "-");
const newDomain = () => `${word("acme")}.test`;

type Person = { id: string; address: string; loginName: string };

/** Somebody of the default organization, at an address that is theirs. */
async function personNamed(username: string, more: JsonObject = {}): Promise<Person> {
  const address = `${word("mail")}@example.test`;
  const contact = { email: { address, is_verified: true } };
  const id = await peer.addPerson({ username, contact, ...more });
  const { user } = bodyOf(await peer.get(`/users/${id}`));
  return { id, address, loginName: user.user.login_names[0] };
}

const create = (domain: string, organization: string, more: JsonObject = {}) =>
  peer.post(`/domains?ctx.org_id=${organization}`, { name: domain, ...more });
/** Adds a domain to an organization and proves it. */
async function prove(domain: string, organization: string) {
  const made = bodyOf(await create(domain, organization, { validation_type }), 201);
  records.set(made.validation.record, [made.validation.token]);
  bodyOf(await peer.post(`/domains/${made.details.id}/_validate`));
  return made;
}
const management = async (path: string, body: JsonValue) =>
  bodyOf(await peer.peer.rest("POST", `/management/v1${path}`, body, { token: peer.app.token }));

/** Sets an organization up whose first user has a name that ends in its domain. */
const setUp = (domain: string) =>
  management("/orgs/_setup", {
    org: { name: uniqueName("organization"), domain },
    human: {
      userName: `first@${domain}`,
      profile: { firstName: "Ada", lastName: "Lovelace" },
      email: { email: "first@example.test", isEmailVerified: true },
    },
  });

/** What the log says of the domains that a user was told of. */
async function toldOf({ id }: { id: string }): Promise<JsonObject[]> {
  const log = await peer.events(type);
  return log.filter(({ aggregateId }) => aggregateId === id).map(({ payload }) => Object(payload));
}
async function told(person: { id: string }, count = 1): Promise<JsonObject[]> {
  for (const end = Date.now() + 60_000; ; await delay(10)) {
    const found = await toldOf(person);
    if (found.length >= count) return found;
    assert.ok(Date.now() < end, "the log does not say that the user was told");
  }
}
const mailsTo = ({ address }: Person) => mails.mails.filter(({ to }) => to.includes(address));

/** Logs in on the pages of the login, by a name that is typed. */
async function logsIn(typed: string): Promise<boolean> {
  const agent = userAgent(peer.issuer);
  await agent.open(authorizeUrl(peer, client));
  return (await signIn(agent, typed)).left !== undefined;
}

/** Does the job of a claim once more, as after a kill that nobody heard of. */
async function doAgain(claimId: string, claim: DomainClaim): Promise<void> {
  const { kernel, made } = peer.app;
  const instanceId = made.instance_id;
  const by = { instanceId, editorId: "", service: "test", clientId: "", requestId: "test" };
  await kernel.events.transact(by, async (tx) => {
    const at = { instanceId, id: claimId, now: tx.now, position: 0n };
    tx.write(enqueue(domainClaimed, at, claim));
  });
  await noticesSent(peer.app);
}

describe("who signs in with a name that ends in a domain (specification 10.3)", () => {
  it("is told in their language, by mail, when another organization proves it; the name that the mail gives works", async () => {
    const domain = newDomain();
    const short = `ada@${domain}`;
    const data = { given_name: "Ada", family_name: "<b>L</b>", preferred_language: "de-CH" };
    const ada = await personNamed(short, { data });
    assert.ok(await logsIn(short));
    const name = `Claimer ${word("of")}`;
    const claimer = await peer.addOrganization({ name });
    const { details, validation } = bodyOf(await create(domain, claimer, { validation_type }), 201);
    await noticesSent(peer.app);
    assert.deepEqual(await toldOf(ada), [], "nothing is proven yet");
    records.set(validation.record, [validation.token]);
    bodyOf(await peer.post(`/domains/${details.id}/_validate`));

    const mail = await mails.mailTo(ada.address);
    const { user } = bodyOf(await peer.get(`/users/${ada.id}`));
    const [loginName] = user.user.login_names;
    const [, suffix] = loginName.split(`${user.user.username}@`);
    assert.equal(
      user.user.username,
      `ada@${suffix}`,
      "it ends in a domain of their own organization",
    );
    const subject = "Melden Sie sich mit Ihrem vollständigen Anmeldenamen an";
    assert.equal(mail.subject, subject);
    const { text = "", html = "" } = mail;
    assert.ok(text.includes(`Die Domain ${domain} gehört`), text);
    assert.ok(text.includes(loginName), text);
    assert.ok(text.split(/\s/).includes(`${peer.issuer}/ui/login`), text);
    assert.ok(!text.includes("nicht angefordert"), "nobody asked for it");
    assert.ok(html.includes('lang="de"') && html.includes(loginName));
    assert.ok(html.includes(`href="${peer.issuer}/ui/login"`));
    const [event] = await told(ada);
    assert.equal(event?.["domain"], domain);
    await noticesSent(peer.app);
    const sent = await peer.events("user.domain.claimed.sent");
    assert.ok(sent.some(({ aggregateId }) => aggregateId === ada.id));
    // Who did it is not for the people of other organizations.
    const log = await peer.events(type);
    const own = log.find(({ aggregateId }) => aggregateId === ada.id);
    assert.equal(own?.editorId, "");
    const all = JSON.stringify([own.payload, own.service, text, html]);
    assert.ok(!all.includes(name) && !all.includes(claimer) && !all.includes(details.id), all);

    // From now on the short name is the other's alone; the new one leads to them.
    assert.equal(await logsIn(short), false);
    assert.ok(await logsIn(user.user.username));
    const other = {
      username: "ada",
      authenticators: { password: { password: "quite other words" } },
    };
    await peer.addPerson(other, claimer);
    assert.equal(await logsIn(short), false);
    assert.ok(await logsIn(loginName));
  });

  it("nobody else is: of the claiming organization, of another suffix, not proven, inactive, deleted", async () => {
    const domain = newDomain();
    const claimer = await peer.addOrganization();
    const upper = await personNamed(`BoB@${domain.toUpperCase()}`);
    const twice = await personNamed(`x@y.test@${domain}`);
    const within = await personNamed(`eve@${domain}.org`);
    const below = await personNamed(`eve@sub.${domain}`);
    const longer = await personNamed(`eve@not${domain}`);
    const bare = await personNamed(domain);
    const first = await personNamed(`${domain}@example.test`);
    const renamed = await personNamed(`left@${domain}`);
    bodyOf(await peer.patch(`/users/${renamed.id}`, { username: word("left") }));
    const joined = await personNamed(word("joins"));
    bodyOf(await peer.patch(`/users/${joined.id}`, { username: `joined@${domain}` }));
    const inactive = await personNamed(`off@${domain}`);
    bodyOf(await peer.post(`/users/${inactive.id}/_deactivate`));
    const gone = await personNamed(`gone@${domain}`);
    bodyOf(await peer.remove(`/users/${gone.id}`));
    const unproven = `${word("mail")}@example.test`;
    const contact = { email: { address: unproven } };
    const doubtful = await personNamed(`new@${domain}`, { contact });
    await mails.mailTo(unproven);
    const ownAddress = `${word("mail")}@example.test`;
    const own = await peer.addPerson(
      {
        username: `carl@${domain}`,
        contact: { email: { address: ownAddress, is_verified: true } },
      },
      claimer,
    );
    const machine = await peer.addMachine(`robot@${domain}`);

    await prove(domain, claimer);
    for (const person of [upper, twice, joined]) await mails.mailTo(person.address);
    await noticesSent(peer.app);
    const several: [Person, number][] = [
      ...[upper, twice, joined].map((each): [Person, number] => [each, 1]),
      ...[within, below, longer, bare, first, renamed, inactive, gone].map(
        (each): [Person, number] => [each, 0],
      ),
    ];
    for (const [{ address }, count] of several) {
      const found = mails.mails.filter(({ to }) => to.includes(address));
      assert.equal(found.length, count, address);
    }
    for (const each of [within, below, longer, bare, first, renamed, gone, { id: own }]) {
      assert.deepEqual(await toldOf(each), []);
    }
    assert.ok(!mails.mails.some(({ to }) => to.includes(ownAddress)));
    assert.equal(mails.mails.filter(({ to }) => to.includes(unproven)).length, 1, "the code alone");
    // Whom no mail reaches has it in their history.
    for (const each of [inactive, doubtful, machine]) assert.equal((await toldOf(each)).length, 1);
  });

  it("reads the words of their own organization, in a language that it allows", async () => {
    const domain = newDomain();
    const key = "message.domainClaimed.text";
    const set = "{domain} has gone. You are {loginName} now, {domain} or not.";
    const home = await peer.addOrganization();
    const path = `/settings/v3alpha/texts?ctx.org_id=${home}`;
    const { token } = peer.app;
    const words = [{ key, language: "fr", set }];
    const allowed = {
      default_language: { key: "fr" },
      restricted_languages: { languages: [{ key: "fr" }, { key: "en" }] },
    };
    const languages = `/settings/v3alpha/languages?ctx.org_id=${home}`;
    bodyOf(await peer.peer.rest("PATCH", languages, allowed, { token }));
    bodyOf(await peer.peer.rest("PATCH", path, words, { token }));
    const address = `${word("mail")}@example.test`;
    const contact = { email: { address, is_verified: true } };
    const data = { given_name: "Ada", family_name: "L", preferred_language: "de" };
    const id = await peer.addPerson({ username: `ada@${domain}`, contact, data }, home);
    await prove(domain, await peer.addOrganization());
    const mail = await mails.mailTo(address);
    const { user } = bodyOf(await peer.get(`/users/${id}`));
    const said = `${domain} has gone. You are ${user.user.login_names[0]} now, ${domain} or not.`;
    assert.ok(mail.text?.includes(said), mail.text);
    assert.equal(mail.subject, "Connectez-vous avec votre identifiant complet");
  });

  const ways: Record<string, (domain: string) => Promise<unknown>> = {
    "an organization that adds it": async (domain) => create(domain, await peer.addOrganization()),
    "an organization that is made with it": (domain) => peer.addOrganization({ domain }),
    "an organization that is set up with it": setUp,
    "an import of an organization": (domain) =>
      management("/import", {
        dataOrgs: { orgs: [{ orgId: word("imported"), org: { name: word("imported"), domain } }] },
      }),
    "an import of its domains": (domain) => {
      const orgId = word("imported");
      const domains = [{ domainName: domain, isVerified: true }];
      return management("/import", {
        dataOrgs: { orgs: [{ orgId, org: { name: orgId }, domains }] },
      });
    },
    "an import that finds it waiting": async (domain) => {
      const orgId = word("imported");
      const org = { name: orgId };
      await management("/import", { dataOrgs: { orgs: [{ orgId, org }] } });
      bodyOf(await create(domain, orgId, { validation_type }), 201);
      const domains = [{ domainName: domain, isVerified: true }];
      await management("/import", { dataOrgs: { orgs: [{ orgId, org, domains }] } });
    },
  };
  for (const [way, add] of Object.entries(ways)) {
    it(`keeps their name beside ${way}: nothing is proven`, async () => {
      const domain = newDomain();
      const person = await personNamed(`ada@${domain}`);
      await add(domain);
      await noticesSent(peer.app);
      assert.deepEqual(await toldOf(person), []);
      assert.deepEqual(mailsTo(person), []);
      assert.ok(await logsIn(`ada@${domain}`));
    });
  }

  it("is told of a domain that is made of an organization's name", async () => {
    const name = word("generated");
    const domain = `${name}.localhost`;
    const person = await personNamed(`ada@${domain}`);
    await peer.addOrganization({ name });
    await mails.mailTo(person.address);
    assert.equal((await told(person))[0]?.["domain"], domain);
  });

  it("is told though they came while the domain was being proven", async () => {
    const { kernel, made } = peer.app;
    const instanceId = made.instance_id;
    const by = { instanceId, editorId: "", service: "test", clientId: "", requestId: "test" };
    const add = organizationCreator(peer.deps);
    const [name, id] = [word("organization"), kernel.newId()];
    let late: Person | undefined;
    await kernel.events.transact(by, async (tx) => {
      await add(tx, instanceId, { id, name });
      late ??= await personNamed(`ada@${name}.localhost`);
    });
    assert.ok(late !== undefined);
    await mails.mailTo(late.address);
  });

  it("is told again when the domain was given up, they took the name again, and is proven once more, by whomever", async () => {
    const domain = newDomain();
    const person = await personNamed(`ada@${domain}`);
    const [one, other] = [await peer.addOrganization(), await peer.addOrganization()];
    const { details } = await prove(domain, one);
    await mails.mailTo(person.address);
    bodyOf(await peer.remove(`/domains/${details.id}`));
    bodyOf(await peer.patch(`/users/${person.id}`, { username: `ada@${domain}` }));
    await prove(domain, other);
    await mails.mailTo(person.address, 2);
    assert.equal((await told(person, 2)).length, 2);
  });
});

describe("a claim that is told", () => {
  it("twice, as after a kill, tells nobody twice (F17)", async () => {
    const domain = newDomain();
    const person = await personNamed(`ada@${domain}`);
    const organizationId = await peer.addOrganization();
    const { details } = await prove(domain, organizationId);
    const [event] = await told(person);
    await mails.mailTo(person.address);
    await noticesSent(peer.app);
    const claim = { organizationId, domain, domainId: details.id, after: "" };
    await doAgain(String(event?.["claimId"]), claim);
    assert.equal((await toldOf(person)).length, 1);
    assert.equal(mailsTo(person).length, 1);
    // So does another job of the same: nobody is called so any more.
    await doAgain(peer.app.kernel.newId(), claim);
    assert.equal((await toldOf(person)).length, 1);
    assert.equal(mailsTo(person).length, 1);
  });

  it("is void once the domain, or the organization, is gone", async () => {
    const domain = newDomain();
    const person = await personNamed(`ada@${domain}`);
    const organizationId = await peer.addOrganization();
    const { details } = await prove(domain, organizationId);
    await told(person);
    bodyOf(await peer.remove(`/domains/${details.id}`));
    bodyOf(await peer.patch(`/users/${person.id}`, { username: `ada@${domain}` }));
    const claim = { organizationId, domain, domainId: String(details.id), after: "" };
    await doAgain(peer.app.kernel.newId(), claim);
    bodyOf(await peer.remove(`/organizations/${organizationId}`));
    await doAgain(peer.app.kernel.newId(), claim);
    assert.equal((await toldOf(person)).length, 1);
  });

  it("sends nothing to who has gone, or has another name, before the mail leaves", async () => {
    const domain = newDomain();
    await mails.stop();
    const [renamed, off] = [await personNamed(`ada@${domain}`), await personNamed(`eve@${domain}`)];
    const home = await peer.addOrganization();
    const address = `${word("mail")}@example.test`;
    const contact = { email: { address, is_verified: true } };
    const orphan = await peer.addPerson({ username: `orphan@${domain}`, contact }, home);
    const stays = await personNamed(`stays@${domain}`);
    await prove(domain, await peer.addOrganization());
    for (const each of [renamed, off, stays, { id: orphan }]) await told(each);
    bodyOf(await peer.patch(`/users/${renamed.id}`, { username: word("ada") }));
    bodyOf(await peer.post(`/users/${off.id}/_deactivate`));
    bodyOf(await peer.remove(`/organizations/${home}`));
    await mails.start();
    peer.pass(60_000);
    await mails.mailTo(stays.address);
    await noticesSent(peer.app);
    assert.deepEqual([renamed, off].flatMap(mailsTo), []);
    assert.ok(!mails.mails.some(({ to }) => to.includes(address)));
  });
});

describe("what the log keeps of a claim", () => {
  it("is sealed with the key of the user: the domain is part of their name", async () => {
    const rules = userEvents["domain.claimed"]({ domain: "acme.test", claimId: "1" });
    assert.deepEqual(rules.payload, { domain: "acme.test", claimId: "1" });
    const domain = newDomain();
    const person = await personNamed(`ada@${domain}`);
    await prove(domain, await peer.addOrganization());
    await told(person);
    bodyOf(await peer.remove(`/users/${person.id}`));
    const [payload] = await toldOf(person);
    assert.equal(payload?.["domain"], "");
  });
});
