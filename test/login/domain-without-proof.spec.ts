// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { authorizeUrl } from "../support/login.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { userAgent } from "../support/user-agent.ts";

const theirs = "the stranger has other words";
const ours = "correct horse battery staple";
const records = new Map<string, string[]>();
let peer: OidcPeer;
let client: MadeClient;

before(async () => {
  peer = await startOidc({
    resolver: { addresses: async () => [], texts: async (name) => records.get(name) ?? [] },
  });
  client = await peer.addClient();
});
after(() => peer[Symbol.asyncDispose]());

const word = (kind: string) => uniqueName(kind).replace(" ", "-");
const newDomain = () => `${word("corp")}.test`;
const withPassword = (password: string) => ({ authenticators: { password: { password } } });

const claim = (domain: string, organization: string, more: JsonObject = {}) =>
  peer.post(`/domains?ctx.org_id=${organization}`, { name: domain, ...more });

/** Somebody whose organization has the domain, and nobody asked for a proof. */
async function stranger(domain: string, username = "ada") {
  const organization = await peer.addOrganization();
  const { details } = bodyOf(await claim(domain, organization), 201);
  const person = { username, ...withPassword(theirs) };
  const id = await peer.addPerson(person, organization);
  return { id, organization, domainId: String(details.id) };
}

/** Whether the pages of the login let in whoever types this. */
async function letsIn(typed: string, password: string, scope = "openid"): Promise<boolean> {
  const agent = userAgent(peer.issuer);
  await agent.open(authorizeUrl(peer, client, { scope }));
  await agent.submit({ login_name: typed });
  const { url } = await agent.submit({ password });
  // What comes next for people of another organization is the page that asks whether the app may.
  return url.pathname !== "/ui/login/password";
}

const bound = (organization: string) => `openid urn:idsvc:iam:org:id:${organization}`;

/** Whom a session is of that is checked by name and password; the reason of the refusal else. */
async function checked(protocol: "grpc" | "rest", value: string, password: string) {
  const outcome = await peer.peer.call(
    protocol,
    SessionService.method.createSession,
    {
      session: {
        checks: { user: { search: { case: "loginName", value } }, password: { password } },
      },
    },
    { token: peer.app.token },
  );
  if (!outcome.ok) return `${outcome.code} ${outcome.reason}`;
  const { session } = bodyOf(await peer.get(`/sessions/${outcome.message.details?.id}`));
  return session.factors.user.user_id ?? session.factors.user.id;
}
const wrong = "3 INVALID_CREDENTIALS";

describe("an address that users of two organizations have verified", () => {
  it("is in each the one of its own user, whoever had it first", async () => {
    const address = `ada@${newDomain()}`;
    const contact = { email: { address, is_verified: true } };
    const [first, second] = [await peer.addOrganization(), await peer.addOrganization()];
    await peer.addPerson({ username: word("one"), contact, ...withPassword(theirs) }, first);
    await peer.addPerson({ username: word("two"), contact, ...withPassword(ours) }, second);
    assert.ok(await letsIn(address, theirs, bound(first)));
    assert.ok(await letsIn(address, ours, bound(second)));
    assert.equal(await letsIn(address, theirs, bound(second)), false);
    assert.equal(await letsIn(address, ours, bound(first)), false);
  });
});

describe("a domain that nobody had to prove", () => {
  it("takes over no username that led to somebody before, on the pages, over REST and gRPC", async () => {
    const domain = newDomain();
    const text = `ada@${domain}`;
    const owner = await peer.addPerson({ username: text, ...withPassword(ours) });
    const { user } = bodyOf(await peer.get(`/users/${owner}`));
    const [full] = user.user.login_names;
    assert.ok(await letsIn(text, ours));
    const taker = await stranger(domain);

    assert.ok(await letsIn(text, ours));
    assert.ok(await letsIn(text.toUpperCase(), ours));
    assert.equal(await letsIn(text, theirs), false);
    for (const protocol of ["grpc", "rest"] as const) {
      assert.equal(await checked(protocol, full, ours), owner);
      assert.equal(await checked(protocol, text, theirs), wrong);
      assert.equal(await checked(protocol, full, theirs), wrong);
    }
    const found = await peer.post("/users/_search", [{ login_name: { login_name: text } }]);
    assert.deepEqual(bodyOf(found).result ?? [], []);
    // Where the log-in names that organization, the text led to nobody else.
    assert.ok(await letsIn(text, theirs, bound(taker.organization)));
    assert.ok(await letsIn("ada", theirs, bound(taker.organization)));
  });

  it("takes over no verified address", async () => {
    const domain = newDomain();
    const address = `ada@${domain}`;
    const contact = { email: { address, is_verified: true } };
    await peer.addPerson({ username: word("owner"), contact, ...withPassword(ours) });
    assert.ok(await letsIn(address, ours));
    await stranger(domain);
    assert.ok(await letsIn(address, ours));
    assert.equal(await letsIn(address, theirs), false);
    for (const protocol of ["grpc", "rest"] as const) {
      assert.equal(await checked(protocol, address, theirs), wrong);
    }
  });

  it("takes nothing over by a username that is given, or changed, later", async () => {
    const domain = newDomain();
    const text = `eve@${domain}`;
    const taker = await stranger(domain);
    await peer.addPerson({ username: text, ...withPassword(ours) });
    bodyOf(await peer.patch(`/users/${taker.id}`, { username: "eve" }));
    assert.ok(await letsIn(text, ours));
    assert.equal(await letsIn(text, theirs), false);
  });

  it("makes login names that nobody takes over either", async () => {
    const domain = newDomain();
    const text = `ada@${domain}`;
    const first = await stranger(domain);
    assert.ok(await letsIn(text, theirs));
    await peer.addPerson({ username: text, ...withPassword(ours) });
    assert.ok(await letsIn(text, theirs));
    assert.equal(await letsIn(text, ours), false);
    for (const protocol of ["grpc", "rest"] as const) {
      assert.equal(await checked(protocol, text, theirs), first.id);
    }
  });

  it("is the organization's once it is proven, with what ends in it", async () => {
    const domain = newDomain();
    const text = `ada@${domain}`;
    const owner = await peer.addPerson({ username: text, ...withPassword(ours) });
    const organization = await peer.addOrganization();
    const validation_type = "DOMAIN_VALIDATION_TYPE_DNS";
    const made = bodyOf(await claim(domain, organization, { validation_type }), 201);
    const person = { username: "ada", ...withPassword(theirs) };
    const id = await peer.addPerson(person, organization);
    assert.ok(await letsIn(text, ours));
    records.set(made.validation.record, [made.validation.token]);
    bodyOf(await peer.post(`/domains/${made.details.id}/_validate`));
    assert.ok(await letsIn(text, theirs));
    assert.equal(await letsIn(text, ours), false);
    for (const protocol of ["grpc", "rest"] as const) {
      assert.equal(await checked(protocol, text, theirs), id);
    }
    const { user } = bodyOf(await peer.get(`/users/${owner}`));
    assert.ok(await letsIn(user.user.login_names[0], ours));
  });
});
