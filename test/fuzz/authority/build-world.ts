import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { authorizeUrl, walk } from "./flows.ts";
import { mailbox } from "./mailbox.ts";
import { addAll, coverOf } from "./power.ts";
import { callJson } from "./service.ts";
import { totpOf } from "./totp.ts";
import {
  allRoles,
  attackersUri,
  base,
  contextField,
  homeOf,
  ownApi,
  password,
  type Person,
  type World,
} from "./world.ts";

const words = [
  "0",
  "system",
  "system:operator",
  "bootstrap",
  "anonymous",
  "idsvc",
  "idsvc:login",
  ownApi,
  "urn:idsvc:iam:org:projects:roles",
];
const scopes = ["openid", "profile", "email", "phone", "address", "offline_access", ownApi];

/** Makes what is in each world. */
export const buildWorld = (world: World, home: string, role: string): Promise<void> =>
  new Builder(world, home).build(role);

/** A password of somebody's own, which does not hold their name. */
const passwordOf = (name: string): string => `${password} ${[...name].toReversed().join("")}`;

class Builder {
  readonly #world: World;
  readonly #home: string;
  readonly #ids = new Map<string, string>();

  constructor(world: World, home: string) {
    this.#world = world;
    this.#home = home;
  }

  async build(role: string): Promise<void> {
    const { book } = this.#world;
    for (const word of words) book.add(`word ${word}`, word, "word");
    for (const scope of scopes) book.add(`scope ${scope}`, scope, "scope");
    for (const each of allRoles) book.add(`role ${each}`, each, "role");
    this.#know("organization", "home", this.#home);
    await this.#settings();
    for (const name of ["alpha", "beta"]) {
      this.#know("organization", name, await this.#make("/organizations", { name }));
      const path = `/organizations/${this.#id(`organization ${name}`)}`;
      const { organization } = Object((await this.#call("GET", path))["organization"]);
      this.#world.book.add(`domain ${name}`, String(organization.domain), "domain");
    }
    await this.#projects();
    this.#places();
    await this.#people();
    await this.#grants();
    await this.#apps();
    await this.#providers();
    await this.#holders(role);
    await this.#leaks();
    await this.#attacker(role);
    for (const { loginName, id } of this.#world.people.values()) this.#world.led.set(loginName, id);
  }

  #id(name: string): string {
    return this.#ids.get(name) ?? assert.fail(name);
  }

  #know(kind: string, name: string, text: string): void {
    this.#ids.set(`${kind} ${name}`, text);
    this.#world.book.add(`${kind} ${name}`, text, kind);
  }

  async #call(method: string, path: string, body?: JsonValue): Promise<JsonObject> {
    const { status, json } = await this.#world.asOwner(method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(json)}`);
    return Object(json);
  }

  async #make(path: string, body: JsonValue): Promise<string> {
    return String(Object((await this.#call("POST", path, body))["details"]).id);
  }

  async #settings(): Promise<void> {
    const { instanceId } = this.#world;
    this.#know("instance", "own", instanceId);
    const set = {
      validate_org_domains: { set: true },
      allow_register: { set: true },
      passkeys_allowed: { set: true },
      session_lifetime: { set: "86400s" },
      mfa_check_lifetime: { set: "43200s" },
      max_password_attempts: { set: 50 },
      second_factors: { set: { value: ["totp", "u2f", "otp_email"] } },
    };
    await this.#call("PATCH", "/settings/v3alpha/login", set);
    await this.#call("PATCH", "/settings/v3alpha/security", {
      enable_impersonation: { set: true },
      // Over http passkeys count on localhost alone, which the host of a world is not: browsers come by https.
      related_origins: { set: { value: [`https://${this.#world.host.replace(/:.*/, "")}`] } },
    });
  }

  async #projects(): Promise<void> {
    for (const [name, of] of [
      ["home", "home"],
      ["alpha", "alpha"],
      ["beta", "beta"],
    ] as const) {
      const path = `/projects?ctx.org_id=${this.#id(`organization ${of}`)}`;
      this.#know("project", name, await this.#make(path, { name: `project ${name}` }));
      const project_id = this.#id(`project ${name}`);
      const role = { project_id, key: "reader", display_name: "Reader" };
      this.#know("role_object", name, await this.#make("/project_roles", role));
    }
    this.#world.book.add("role key reader", "reader", "role_key", "role_keys", "key");
    for (const [name, project, to] of [
      ["beta to alpha", "beta", "alpha"],
      ["alpha to beta", "alpha", "beta"],
    ] as const) {
      const granted_organization_id = this.#id(`organization ${to}`);
      const project_id = this.#id(`project ${project}`);
      const grant = { project_id, granted_organization_id, role_keys: ["reader"] };
      this.#know("project_grant", name, await this.#make("/project_grants", grant));
    }
  }

  #places(): void {
    const id = (name: string) => this.#id(name);
    const organizations = ["home", "alpha", "beta"].map((name) => ({
      name,
      place: { type: "organization" as const, id: id(`organization ${name}`) },
    }));
    const projects = ["home", "alpha", "beta"].map((name) => ({
      name: `project ${name}`,
      place: {
        type: "project" as const,
        id: id(`project ${name}`),
        organizationId: id(`organization ${name}`),
      },
    }));
    const grantees = { "beta to alpha": "alpha", "alpha to beta": "beta" };
    const grants = Object.entries(grantees).map(([name, to]) => ({
      name: `grant ${name}`,
      place: {
        type: "projectGrant" as const,
        id: id(`project_grant ${name}`),
        organizationId: id(`organization ${to}`),
      },
    }));
    const instance = { name: "instance", place: { type: "instance" as const } };
    this.#world.places = [instance, ...organizations, ...projects, ...grants];
  }

  async #person(name: string, organization: string, more: JsonObject = {}): Promise<Person> {
    const { people } = this.#world;
    const ctx = this.#id(`organization ${organization}`);
    const id = await this.#make(`/users?ctx.org_id=${ctx}`, {
      username: name,
      data: { given_name: name, family_name: "Person" },
      contact: { email: { address: `${name.split("@")[0]}@people.test`, is_verified: true } },
      authenticators: { password: { password } },
      ...more,
    });
    this.#know("user", name, id);
    const told = Object((await this.#call("GET", `/users/${id}`))["user"]);
    const loginName = String(told.user.login_names?.[0] ?? name);
    const person = { name, id, loginName, organization, password };
    people.set(name, person);
    this.#world.book.add(`login name ${name}`, loginName, "login_name");
    this.#world.book.add(`mail ${name}`, `${name.split("@")[0]}@people.test`, "mail");
    return person;
  }

  async #machine(name: string, organization: string): Promise<string> {
    const path = `/users?ctx.org_id=${this.#id(`organization ${organization}`)}`;
    const machine = { username: name, schema_id: "machine", data: { name } };
    const id = await this.#make(path, machine);
    this.#know("user", name, id);
    return id;
  }

  /** Gives a role in the place of its kind that the world has for it. */
  async #give(user: string, role: string, place = homeOf(role)): Promise<void> {
    const ctx = contextField(place, (kind, name) => this.#id(`${kind} ${name}`));
    const given = { ctx, user_id: this.#id(`user ${user}`), roles: [role] };
    this.#know("membership", `${user} ${role}`, await this.#make("/memberships", given));
  }

  async #people(): Promise<void> {
    const { book, people } = this.#world;
    // Somebody whose password is known, and who has a second factor.
    const boss = await this.#person("boss", "home");
    const begun = await this.#call("POST", `/users/${boss.id}/totp`);
    const secret = String(begun["secret"]);
    const code = totpOf(secret, this.#world.service.now());
    await this.#call("POST", `/users/${boss.id}/totp/${String(begun["totp_id"])}/_verify`, code);
    people.set("boss", { ...boss, totp: secret });
    book.add("password of boss", password, "password");
    await this.#give("boss", "IAM_OWNER");
    // Nobody knows theirs.
    for (const [name, organization, role] of [
      ["chief", "alpha", "IAM_OWNER"],
      ["linked", "alpha", "ORG_OWNER"],
      ["walter", "alpha", ""],
      ["wanda", "beta", ""],
      ["ceo@corp.test", "home", ""],
    ] as const) {
      const own = passwordOf(name);
      const person = await this.#person(name, organization, {
        authenticators: { password: { password: own } },
      });
      people.set(name, { ...person, password: own });
      if (role !== "") await this.#give(name, role);
    }
    people.set("ceo@corp.test", {
      ...(people.get("ceo@corp.test") ?? assert.fail()),
      loginName: "ceo@corp.test",
    });
    for (const [name, organization, role] of [
      ["engine", "alpha", "IAM_OWNER"],
      ["cog", "alpha", ""],
      ["wheel", "beta", ""],
    ] as const) {
      await this.#machine(name, organization);
      if (role !== "") await this.#give(name, role);
    }
    const { issuer, clientId, secret: own } = this.#world.service.attackers;
    book.add("issuer of attacker", issuer, "url");
    book.add("client at attacker", clientId);
    book.add("secret at attacker", own);
    book.add("domain of host", this.#world.host.replace(/:\d+$/, ""), "domain");
    book.add("domain corp", "corp.test", "domain");
    book.add("password fresh", "a fresh password of the attacker", "new_password", "password");
    book.add("mail attacker", "me@attacker.test", "mail", "own_mail");
    book.add("mail attacker two", "two@attacker.test", "mail", "own_mail");
    book.add("uri attacker", attackersUri, "uri");
    book.add("uri loopback", "http://localhost/cb", "uri");
  }

  /** What users have in projects, and what organizations are called. */
  async #grants(): Promise<void> {
    const [user_id, project_id] = [this.#id("user walter"), this.#id("project alpha")];
    const granted = { user_id, project_id, role_keys: ["reader"] };
    this.#know("user_grant", "walter", await this.#make("/user_grants", granted));
    for (const name of ["alpha", "beta"]) {
      const path = `/domains/_search?ctx.org_id=${this.#id(`organization ${name}`)}`;
      const [domain] = Object(await this.#call("POST", path, [])).result ?? [];
      if (domain !== undefined) this.#know("domain_object", name, String(domain.details.id));
    }
  }

  async #apps(): Promise<void> {
    const { book, clients, service, host } = this.#world;
    // Projects have owners of their own, who may register apps and nothing else.
    const makers = new Map<string, string>();
    for (const home of ["alpha", "beta"]) {
      const id = await this.#machine(`maker ${home}`, home);
      const ctx = { project_id: this.#id(`project ${home}`) };
      await this.#make("/memberships", { ctx, user_id: id, roles: ["PROJECT_OWNER"] });
      const { token } = await this.#call("POST", `/users/${id}/personal_access_tokens`, {});
      makers.set(home, String(token));
    }
    const make = async (
      name: string,
      home: string,
      more: { config: JsonObject; app?: JsonObject; token?: string; isKnown?: boolean },
    ) => {
      const body = {
        name,
        project_id: this.#id(`project ${home}`),
        ...more.app,
        oidc: more.config,
      };
      const token = more.token ?? this.#world.ownerToken;
      const { status, json } = await callJson(service, { host, token, path: `${base}/apps`, body });
      assert.equal(status, 201, JSON.stringify(json));
      const { details, client_id, client_secret } = Object(json);
      this.#know("app", name, String(details.id));
      this.#know("client", name, String(client_id));
      clients.set(String(client_id), home);
      if (client_secret === undefined) return;
      book.add(`client secret ${name}`, String(client_secret), ...(more.isKnown ? ["secret"] : []));
    };
    const config = (redirect: string, auth: string): JsonObject => ({
      redirect_uris: [redirect],
      response_types: ["OIDC_RESPONSE_TYPE_CODE"],
      grant_types: ["AUTHORIZATION_CODE", "REFRESH_TOKEN", "DEVICE_CODE", "TOKEN_EXCHANGE"].map(
        (each) => `OIDC_GRANT_TYPE_${each}`,
      ),
      app_type: auth === "NONE" ? "OIDC_APP_TYPE_NATIVE" : "OIDC_APP_TYPE_WEB",
      auth_method_type: `OIDC_AUTH_METHOD_TYPE_${auth}`,
    });
    await make("console", "home", { config: config("http://localhost/cb", "NONE") });
    // Where people change how they log in: nobody else's pages are told of it.
    const credentials = { permissions: ["user.self.credential"], instance: true };
    const ownPages = config("http://localhost/cb", "NONE");
    await make("account", "home", { config: ownPages, app: { api_access: credentials } });
    await make("portal", "alpha", { config: config("https://rp.test/cb", "BASIC") });
    const everything = { permissions: ["*"], instance: true, trusted: true };
    const trusted = {
      config: config("https://rp.test/cb", "BASIC"),
      app: { api_access: everything },
    };
    await make("trusted", "alpha", trusted);
    for (const home of ["alpha", "beta"]) {
      const token = makers.get(home) ?? assert.fail();
      const asked = config(attackersUri, "BASIC");
      await make(`evil ${home}`, home, { config: asked, token, isKnown: true });
      await make(`second ${home}`, home, { config: asked, token, isKnown: true });
    }
  }

  async #providers(): Promise<void> {
    const { issuer, clientId: client_id, secret: client_secret } = this.#world.service.honest;
    const path = `/idps/forge_b?ctx.org_id=${this.#id("organization alpha")}`;
    const idp = { name: "provider", options: { is_linking_allowed: true } };
    const made = await this.#make(path, { idp, config: { issuer, client_id, client_secret } });
    this.#know("idp", "provider", made);
    this.#world.book.add("idp provider", made, "idp ForgeB");
    for (const name of ["linked", "chief"]) {
      const link = { idp_id: made, user_id: `subject-${name}` };
      await this.#call("POST", `/users/${this.#id(`user ${name}`)}/idps`, { link });
    }
  }

  /** What leaks in life: an old mail, and a cookie from before whoever wants to change something must log in again. */
  async #leaks(): Promise<void> {
    const { service, book, allowed, places, people } = this.#world;
    const chief = this.#id("user chief");
    await this.#call("POST", `/users/${chief}/password/_reset`, { send_email: {} });
    const [old] = await mailbox(this.#world, (to) => to === "chief@people.test");
    if (old !== undefined) book.add("old code of chief", String(old["code"]), "code");
    await this.#call("POST", `/users/${chief}/password/_reset`, { send_email: {} });

    // Nobody knows their password either: the cookie is all there is of them.
    const own = passwordOf("careless");
    const authenticators = { password: { password: own } };
    const made = await this.#person("careless", "beta", { authenticators });
    const careless = { ...made, password: own };
    people.set("careless", careless);
    const at = places.find(({ name }) => name === "beta") ?? assert.fail();
    await this.#give("careless", "ORG_USER_MANAGER", "beta");
    addAll(allowed, coverOf("ORG_USER_MANAGER", at, places));
    const browser = this.#world.browser("stolen");
    const clientId = this.#id("client console");
    const asked = { clientId, redirectUri: "http://localhost/cb", scope: "openid" };
    await walk(service, browser, await browser.open(authorizeUrl(asked)), careless);
    service.pass(6 * 60_000);
  }

  /** Every role is held by somebody. */
  async #holders(role: string): Promise<void> {
    for (const each of allRoles) {
      if (each === role) continue;
      const name = `holder ${each}`;
      await this.#machine(name, "alpha");
      await this.#give(name, each);
    }
  }

  async #attacker(role: string): Promise<void> {
    const { book, allowed, places, service, host } = this.#world;
    if (role === "stranger") return;
    const own = passwordOf("attacker");
    const person = await this.#person("attacker", "alpha", {
      authenticators: { password: { password: own } },
      contact: { email: { address: "attacker@attacker.test", is_verified: true } },
    });
    this.#world.people.set("attacker", { ...person, password: own });
    book.add("password of attacker", own, "password");
    book.add("mail attacker's", "attacker@attacker.test", "mail", "own_mail");
    const robot = await this.#machine("robot", "alpha");
    if (role !== "nobody") {
      await this.#give("attacker", role);
      await this.#give("robot", role);
      const place = homeOf(role);
      const at = places.find(({ name }) => name === place) ?? assert.fail(place);
      addAll(allowed, coverOf(role, at, places));
    }
    const { token } = await this.#call("POST", `/users/${robot}/personal_access_tokens`, {});
    book.add("token of robot", String(token), "bearer", "own_bearer");
    const checks = { user: { user_id: person.id }, password: { password: own } };
    const session = await this.#call("POST", "/sessions", { checks });
    book.add("token of attacker", String(session["session_token"]), "bearer", "own_bearer");
    this.#know("session", "attacker", String(Object(session["details"]).id));
    const who = await service.whoIs(host, String(token));
    assert.ok(who !== undefined, "the attacker is somebody");
  }
}
