// Run: shared
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { codeIn } from "../support/login-pages.ts";
import { bodyOf } from "../support/peer.ts";
import { type SamlProvider, startSamlProvider } from "../support/saml-provider.ts";
import { errorOf, formOf, type Shown, type UserAgent } from "../support/user-agent.ts";
import { leaving, type ProviderWorld, startProviderWorld } from "../login/provider-world.ts";

let world: ProviderWorld;
let saml: SamlProvider;
/** A provider that makes an account of everybody. */
let open: string;
let metadata: string;
const options = { is_auto_creation: true };
const base64 = (text: string) => Buffer.from(text).toString("base64");

const add = (config: JsonObject, of = saml) =>
  world.addIdp("saml", { metadata_xml: base64(of.metadata), ...config }, options);
const metadataOf = async (id: string) =>
  (await fetch(`${world.peer.issuer}/idps/${id}/saml/metadata`)).text();

before(async () => {
  world = await startProviderWorld();
  saml = startSamlProvider();
  open = await add({});
  metadata = await metadataOf(open);
});
after(() => world[Symbol.asyncDispose]());
beforeEach(() => saml.reset());

/** Goes to the provider; what it is asked there. */
async function ask(idp = open, more: Record<string, string> = {}) {
  const agent = await world.begin(more);
  const flow = agent.last.url.searchParams.get("flow") ?? "";
  await agent.open(`/ui/login/idp?${new URLSearchParams({ flow, idp })}`);
  const asked = await saml.read(await metadataOf(idp), leaving(agent.last));
  return { agent, ...asked };
}

/** Has the browser post an answer: from the provider without cookies, then from the page between. */
async function post(agent: UserAgent, fields: Record<string, string>, idp = open): Promise<Shown> {
  const path = `/idps/${idp}/saml/acs`;
  const cookies = new Map(agent.cookies);
  agent.cookies.clear();
  await agent.open(path, { method: "POST", body: new URLSearchParams(fields) });
  for (const [name, value] of cookies) agent.cookies.set(name, value);
  return errorOf(agent.last) === undefined ? agent.submit({}) : agent.last;
}

async function begunLogIn(idp = open): Promise<UserAgent> {
  const { agent, id, relayState } = await ask(idp);
  const SAMLResponse = await saml.answer(await metadataOf(idp), id);
  await post(agent, { SAMLResponse, RelayState: relayState }, idp);
  return agent;
}

const logIn = async (idp = open): Promise<Shown> => (await begunLogIn(idp)).last;

/** Who has an account whose address nobody has proven is asked for that once a log-in, and may put it off. */
async function logInUnproven(idp = open): Promise<Shown> {
  const agent = await begunLogIn(idp);
  assert.equal(agent.last.url.pathname, "/ui/login/verify");
  return agent.submit({ skip: "true" });
}

async function refused(act: () => Promise<Shown>, detail = /IDP_ANSWER_INVALID/): Promise<void> {
  const counts = [await world.userCount(), await world.sessionCount()];
  const shown = await act();
  assert.equal(errorOf(shown), "PROVIDER_FAILED", shown.html.slice(0, 1_000));
  assert.match(shown.html, detail);
  assert.deepEqual([await world.userCount(), await world.sessionCount()], counts);
}

describe("a provider that speaks SAML", () => {
  it("logs its users in, each time the same", async () => {
    const shown = await logIn();
    // Its assertions prove no address (D60), so a code does.
    assert.equal(shown.url.pathname, "/ui/login/verify");
    const { uid, email } = saml.script.attributes;
    const mail = await world.pages.lastMail();
    assert.equal(mail.to, email);
    const [last] = (await world.peer.events("user.human.externalidp.added")).slice(-1);
    const user = bodyOf(await world.peer.get(`/users/${last?.aggregateId}`)).user.user;
    assert.equal(user.username, uid);
    assert.deepEqual(
      [
        user.data.given_name,
        user.data.family_name,
        user.authenticators.identity_providers[0].user_id,
      ],
      ["Mona", "Lisa", saml.script.nameId],
    );
    codeIn(await logInUnproven());
  });

  it("is asked by redirect or by a form, freshly where the app wants it, signed where told", async () => {
    const fresh = await ask(open, { prompt: "login" });
    assert.equal(fresh.forceAuthn, true);
    assert.equal((await ask()).forceAuthn, false);
    saml = startSamlProvider({ wantsSigned: true });
    try {
      const signed = await add({ with_signed_request: true, binding: "SAML_BINDING_REDIRECT" });
      assert.ok((await ask(signed)).id);
      const posted = await add({ with_signed_request: true, binding: "SAML_BINDING_POST" });
      const agent = await world.begin();
      const flow = agent.last.url.searchParams.get("flow") ?? "";
      const page = await agent.open(`/ui/login/idp?${new URLSearchParams({ flow, idp: posted })}`);
      const { action, fields } = formOf(page.html);
      assert.equal(action, "https://idp.test/post");
      const asked = await saml.read(await metadataOf(posted), fields);
      const SAMLResponse = await saml.answer(await metadataOf(posted), asked.id);
      const shown = await post(agent, { SAMLResponse, RelayState: asked.relayState }, posted);
      assert.equal(shown.url.pathname, "/ui/login/verify");
      const [, certificate = ""] = /X509Certificate>([^<]*)</.exec(await metadataOf(posted)) ?? [];
      const { publicKey, subject } = new X509Certificate(Buffer.from(certificate, "base64"));
      assert.equal(publicKey.asymmetricKeyType, "rsa");
      assert.match(subject, /^CN=/);
      // A request that is not signed is none for this provider.
      await assert.rejects(ask(await add({})));
    } finally {
      saml = startSamlProvider();
      open = await add({});
      metadata = await metadataOf(open);
    }
  });

  it("knows a user who has a new name each time by an attribute, or not at all", async () => {
    const transient = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";
    const named = await add({
      name_id_format: "SAML_NAME_ID_FORMAT_TRANSIENT",
      transient_mapping_attribute_name: "uid",
    });
    saml.script.nameIdFormat = transient;
    await logIn(named);
    saml.script.nameId = "another each time";
    codeIn(await logInUnproven(named));
    const nameless = await add({ name_id_format: "SAML_NAME_ID_FORMAT_TRANSIENT" });
    await refused(() => logIn(nameless), /names the user anew/);
  });

  it("whose metadata is at an address is read there", async () => {
    const idp = await world.addIdp(
      "saml",
      { metadata_url: `${world.fake.issuer}/nothing` },
      options,
    );
    const agent = await world.begin();
    const flow = agent.last.url.searchParams.get("flow") ?? "";
    const shown = await agent.open(`/ui/login/idp?${new URLSearchParams({ flow, idp })}`);
    assert.equal(errorOf(shown), "PROVIDER_UNAVAILABLE");
    assert.equal(shown.status, 503);
  });

  it("has its metadata at the service only where it is one of SAML", async () => {
    const answer = await fetch(`${world.peer.issuer}/idps/404/saml/metadata`);
    assert.equal(answer.status, 404);
    const oidc = await world.addForgeB();
    assert.equal((await fetch(`${world.peer.issuer}/idps/${oidc}/saml/metadata`)).status, 404);
    assert.match(
      metadata,
      new RegExp(`entityID="${world.peer.issuer}/idps/${open}/saml/metadata"`),
    );
  });
});

describe("D61: the response of a provider of SAML is refused", () => {
  const past = new Date(Date.now() - 600_000).toISOString();
  const future = new Date(Date.now() + 600_000).toISOString();
  const cases: Record<string, () => void> = {
    "of another issuer": () => (saml.script.tags = { Issuer: "https://evil.test" }),
    "for another audience": () => (saml.script.tags = { Audience: "https://evil.test" }),
    "without an audience": () => {
      saml.script.template = (xml) =>
        xml.replace(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, "");
    },
    "without conditions": () => {
      saml.script.template = (xml) => xml.replace(/<saml:Conditions.*<\/saml:Conditions>/, "");
    },
    "that has expired": () => (saml.script.tags = { ConditionsNotOnOrAfter: past }),
    "of the future": () => (saml.script.tags = { ConditionsNotBefore: future }),
    "whose confirmation has expired": () =>
      (saml.script.tags = { SubjectConfirmationDataNotOnOrAfter: past }),
    "to another request": () => (saml.script.tags = { InResponseTo: "_another" }),
    "to no request": () => {
      saml.script.template = (xml) => xml.replaceAll(/ InResponseTo="[^"]*"/g, "");
    },
    "without a confirmation of the request": () => {
      saml.script.template = (xml) =>
        xml.replace(/(<saml:SubjectConfirmationData[^>]*) InResponseTo="[^"]*"/, "$1");
    },
    "confirmed for another address": () =>
      (saml.script.tags = { SubjectRecipient: "https://evil.test/acs" }),
    "signed by another key": () => (saml.script.isForeign = true),
    "without signature": () => {
      saml.script.forge = (xml) => xml.replace(/<ds:Signature .*<\/ds:Signature>/s, "");
    },
    "that was changed": () => {
      saml.script.forge = (xml) => xml.replace("Mona", "Evil");
    },
    "with a second assertion around the signed one": () => {
      saml.script.forge = (xml) => {
        const [signed = ""] = /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml) ?? [];
        const evil = signed
          .replace(/<ds:Signature .*<\/ds:Signature>/s, "")
          .replace(/ID="[^"]*"/, 'ID="_evil"')
          .replace(saml.script.nameId, "evil");
        return xml.replace(signed, evil + signed);
      };
    },
    "with a document type": () => {
      saml.script.forge = (xml) => `<!DOCTYPE x [<!ENTITY a "b">]>${xml}`;
    },
    "that is no XML": () => (saml.script.forge = () => "<<<"),
    "without a name": () => {
      saml.script.template = (xml) => xml.replace(/<saml:NameID.*<\/saml:NameID>/, "");
    },
  };
  for (const [what, script] of Object.entries(cases)) {
    it(what, async () => {
      script();
      await refused(() => logIn());
    });
  }

  it("that says no", async () => {
    saml.script.tags = { StatusCode: "urn:oasis:names:tc:SAML:2.0:status:Requester" };
    const counts = await world.userCount();
    const shown = await logIn();
    assert.equal(shown.left, undefined);
    assert.equal(shown.url.pathname, "/ui/login/loginname");
    assert.match(shown.html, /was cancelled, or the other provider refused it/);
    assert.equal(await world.userCount(), counts);
  });

  it("a second time, and in the flow of another browser", async () => {
    const first = await ask();
    const SAMLResponse = await saml.answer(metadata, first.id);
    const fields = { SAMLResponse, RelayState: first.relayState };
    await post(first.agent, fields);
    await refused(() => post(first.agent, fields), /IDP_(INTENT_SPENT|STATE_UNKNOWN)/);
    // What somebody was given for their login is put into that of another.
    const second = await ask();
    await refused(() => post(second.agent, { SAMLResponse, RelayState: second.relayState }));
    const third = await ask();
    saml.script.forge = (xml) =>
      xml.replace(`InResponseTo="${first.id}"`, `InResponseTo="${third.id}"`);
    const moved = await saml.answer(metadata, first.id);
    await refused(() => post(third.agent, { SAMLResponse: moved, RelayState: third.relayState }));
  });

  it("at the address of another provider", async () => {
    const other = await add({});
    const { agent, id, relayState } = await ask();
    const SAMLResponse = await saml.answer(metadata, id);
    await refused(
      () => post(agent, { SAMLResponse, RelayState: relayState }, other),
      /IDP_STATE_UNKNOWN/,
    );
  });
});
