import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Action, type Actions, known, optional, type Outcome, text } from "./action.ts";
import { projectGrantsIn } from "./facts.ts";
import { answerIn, authorizeUrl, walk } from "./flows.ts";
import { addAll, coverOf } from "./power.ts";
import { script } from "./service.ts";
import {
  allRoles,
  attackersUri,
  contextField,
  homeOf,
  ownApi,
  type Person,
  type World,
} from "./world.ts";

// People of the world who do as they are asked; whoever has power is asked more often.
const visitors = ["chief", "chief", "linked", "boss", "walter", "wanda"];
const promoted = ["walter", "cog", "walter", "cog", "wheel", "attacker"];
const plainUri = "https://rp.test/cb";

const personOf = ({ people }: World, words: JsonObject): Person =>
  people.get(text(words, "person")) ?? assert.fail(text(words, "person"));

/** Those of whom the attacker holds a token that they have not used. */
function heldUnused(world: World): string[] {
  const { subjects, attackers } = world;
  if (subjects.size === 0) return [];
  const users = new Set(subjects.values());
  return promoted.filter(
    (name) => users.has(`user ${name}`) && !attackers.has(name) && mayBePromoted(world, name),
  );
}

/** An owner gives somebody a role. What is given to the attacker they may have from then on. */
const promote: Action = {
  weight: (world) => (heldUnused(world).length > 0 ? 20 : 2),
  draw(random, world) {
    const held = heldUnused(world);
    const user = random.one(held.length > 0 && random.chance(0.8) ? held : promoted) ?? "";
    // Owners are careful with the attacker, of whom nothing would be left to be found.
    const roles = user === "attacker" ? ["ORG_OWNER_VIEWER", "ORG_PROJECT_CREATOR"] : allRoles;
    return { user, role: random.one(roles) ?? "" };
  },
  async run(world, words) {
    const [user, role] = [text(words, "user"), text(words, "role")];
    const { book, places, allowed } = world;
    if (!mayBePromoted(world, user)) return { isDone: false };
    const place = homeOf(role);
    const id = (kind: string, name: string) => book.textOf(`${kind} ${name}`);
    const ctx = contextField(place, id);
    const given = { ctx, user_id: id("user", user), roles: [role] };
    const { status } = await world.asOwner("POST", "/memberships", given);
    if (status < 300 && world.attackers.has(user)) {
      const at = places.find(({ name }) => name === place) ?? assert.fail(place);
      addAll(allowed, coverOf(role, at, places));
    }
    return { isDone: status < 300 };
  },
};

/**
 * Whoever has acted as somebody is that person for the service: what they made of the account in its own name nobody can tell
 * from what the person made. Owners of the world promote nobody whose account the attacker has used so.
 */
const mayBePromoted = ({ used, book }: World, user: string): boolean =>
  !used.has(book.textOf(`user ${user}`));

/** A word of a scope that asks for our own APIs. */
const isApiWord = (word: string): boolean => word === ownApi;

/** Somebody follows a link to an app, logs in and allows what they are asked for. */
const visit: Action = {
  weight: 7,
  draw(random, world) {
    // An app that the attacker has changed is what they want others to use.
    const changed = /^app (.+)$/.exec(world.touched.get("app") ?? "")?.[1];
    const apps = ["evil alpha", "evil beta", "second alpha", "second beta", "trusted", "portal"];
    const some = changed !== undefined && random.chance(0.4) ? changed : random.one(apps);
    const client = random.chance(0.5) ? some : undefined;
    const scopes = [
      "openid",
      `openid ${ownApi}`,
      `openid offline_access ${ownApi}`,
      "openid email",
    ];
    const beyond = known(random, world, "project");
    return {
      person: random.one(visitors) ?? "",
      client_id:
        client === undefined ? (known(random, world, "client") ?? "") : `{{client ${client}}}`,
      redirect_uri: random.chance(0.85) ? attackersUri : plainUri,
      scope: random.chance(0.85)
        ? (random.one(scopes) ?? "")
        : `openid urn:idsvc:iam:org:project:id:${beyond}:aud`,
      choice: random.chance(0.5) ? "own" : "organization",
      ...(random.chance(0.2)
        ? { prompt: random.one(["none", "consent", "consent", "login"]) ?? "" }
        : {}),
      ...(random.chance(0.1) ? { response_type: "id_token token" } : {}),
    };
  },
  async run(world, words) {
    const person = personOf(world, words);
    const clientId = text(words, "client_id");
    const scope = text(words, "scope");
    const redirectUri = text(words, "redirect_uri");
    const responseType = optional(words, "response_type");
    const asked = { clientId, redirectUri, scope, responseType, prompt: optional(words, "prompt") };
    const browser = world.browser(person.name);
    const { page, ...at } = await walk(
      world.service,
      browser,
      await browser.open(authorizeUrl(asked)),
      { ...person, choice: text(words, "choice") },
    );
    const { code, ...rest } = answerIn(page);
    const isSent = page.left !== undefined && (code ?? rest["access_token"]) !== undefined;
    if (!isSent) return { isDone: false };
    const broken = await consentGiven(world, person, { clientId, scope, ...at });
    const isTold = page.left?.origin === new URL(attackersUri).origin;
    const given = code === undefined ? {} : { authorization_code: code, client_id: clientId };
    const told = { ...rest, ...given };
    return { isDone: true, ...(isTold ? { told } : {}), ...(broken ? { broken: [broken] } : {}) };
  },
};

type Given = {
  clientId: string;
  scope: string;
  asked: readonly string[] | undefined;
  chosen: string | undefined;
};

/** Notes what was allowed on a page; where none was shown, it must have been allowed before, or be spared (J5). */
async function consentGiven(
  world: World,
  person: Person,
  { clientId, scope, asked, chosen }: Given,
): Promise<string | undefined> {
  const key = `${person.name} ${clientId}`;
  const before = world.consents.get(key) ?? { scopes: new Set(), choices: new Set() };
  const words = scope.split(" ");
  if (asked !== undefined) {
    for (const word of words) before.scopes.add(word);
    if (chosen !== undefined) before.choices.add(chosen);
    world.consents.set(key, before);
    return undefined;
  }
  if (world.clients.get(clientId) === undefined) return undefined;
  const unasked = words.filter((word) => !before.scopes.has(word) && !isApiWord(word));
  const home = world.clients.get(clientId);
  if (unasked.length === 0 || home === person.organization) return undefined;
  if (await hasAcceptedGrant(world, home ?? "", person.organization)) return undefined;
  return `J5: ${person.name} of ${person.organization} was not asked for ${unasked.join(" ")} by an app of ${home}`;
}

async function hasAcceptedGrant(world: World, project: string, to: string): Promise<boolean> {
  const id = (kind: string, name: string) => world.book.textOf(`${kind} ${name}`);
  const grants = await projectGrantsIn(world);
  return grants.some(
    ({ accepted, projectId, grantedOrganizationId }) =>
      accepted &&
      projectId === id("project", project) &&
      grantedOrganizationId === id("organization", to),
  );
}

/** Somebody types the code that a device shows, and allows what it asks for. */
const confirmDevice: Action = {
  weight: 1,
  draw(random, world) {
    const user_code = known(random, world, "user_code");
    if (user_code === undefined) return undefined;
    return {
      person: random.one(visitors) ?? "",
      user_code,
      choice: random.chance(0.75) ? "own" : "organization",
    };
  },
  async run(world, words) {
    const person = personOf(world, words);
    const browser = world.browser(person.name);
    const start = await browser.open("/device");
    const next = await browser.submit(start, { user_code: text(words, "user_code") });
    if (next === undefined) return { isDone: false };
    const { page, asked, chosen } = await walk(world.service, browser, next, {
      ...person,
      choice: text(words, "choice"),
    });
    // Which client it was, and what it asked for, the person is told in words alone.
    if (chosen !== undefined) {
      const scope = "openid profile email phone address offline_access";
      // Apps that the attacker has made are among them.
      const made = world.book.of("client").map((name) => world.book.textOf(name));
      for (const clientId of new Set([...world.clients.keys(), ...made])) {
        await consentGiven(world, person, { clientId, scope, asked, chosen });
      }
    }
    return { isDone: page.path === "/ui/login/device/done" };
  },
};

/** Somebody logs in with the provider that they are linked to. */
const logInLinked: Action = {
  weight: 1,
  draw: () => ({ person: "linked" }),
  async run(world, words): Promise<Outcome> {
    const person = personOf(world, words);
    const { honest } = world.service;
    script(world.service, honest, { sub: "subject-linked" });
    const visitAt = async (at: URL) => {
      // Whoever answers now, the person follows; only their own provider knows them.
      if (at.origin !== honest.issuer) return undefined;
      const answer = await fetch(at, { redirect: "manual" });
      return URL.parse(answer.headers.get("location") ?? "") ?? undefined;
    };
    const browser = world.browser("linked by provider");
    const clientId = world.book.textOf("client console");
    const domain = `urn:idsvc:iam:org:domain:primary:${world.book.textOf("domain alpha")}`;
    const asked = { clientId, redirectUri: "http://localhost/cb", scope: `openid ${domain}` };
    const start = await browser.open(authorizeUrl(asked));
    const idp = world.book.textOf("idp provider");
    const { page } = await walk(world.service, browser, start, {
      loginName: person.loginName,
      idp,
      visit: visitAt,
      choice: "own",
    });
    return { isDone: page.left !== undefined };
  },
};

export const otherActions: Actions = { promote, visit, confirmDevice, logInLinked };

export const isOthers = (name: string): boolean => name in otherActions;
