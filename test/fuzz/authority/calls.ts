import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { permissionsOf, rolesOf } from "../../../src/authz/roles.ts";
import {
  type Action,
  type Actions,
  known,
  matched,
  optional,
  type Outcome,
  reasonIn,
  text,
} from "./action.ts";
import { nameIn } from "./book.ts";
import { bearer, call } from "./call.ts";
import { factorActions, machineFor, noteTaken, userFor } from "./factors.ts";
import type { Random } from "./random.ts";
import { callJson } from "./service.ts";
import { allRoles, attackersUri, contextField, contextOf, homeOf, type World } from "./world.ts";

const base = "/resources/v3alpha";

type Drawn = { by?: string; path: string; method?: string; body?: JsonValue; of: string };

/** A call whose words fit together, as blind draws seldom do. */
function rest(
  label: string,
  weight: number,
  draw: (random: Random, world: World, by: string | undefined) => Omit<Drawn, "by"> | undefined,
): Action {
  return {
    weight,
    draw(random, world) {
      const by = bearer(random, world);
      const drawn = draw(random, world, by);
      // What is not known has no path.
      if (drawn === undefined || /undefined|\/(?=\/|$)/.test(drawn.path)) return undefined;
      return { ...drawn, ...(by === undefined ? {} : { by }) };
    },
    async run(world, words): Promise<Outcome> {
      const body = words["body"];
      const token = optional(words, "by");
      const { status, json } = await callJson(world.service, {
        host: world.host,
        method: optional(words, "method") ?? "POST",
        path: encodeURI(
          `${text(words, "path").startsWith("/settings") ? "" : base}${text(words, "path")}`,
        ),
        ...(token === undefined ? {} : { token }),
        ...(body === undefined ? {} : { body }),
      });
      const isDone = status < 300;
      const [, taken] = /^\/users\/([^/]+)\/password$/.exec(text(words, "path")) ?? [];
      if (isDone && taken !== undefined) noteTaken(world, taken, "taken");
      const outcome = isDone ? { told: json } : { why: reasonIn(json) };
      return { isDone, label, of: text(words, "of"), ...outcome };
    },
  };
}

/** A login name and a password; half the time the one that was leaked, of whom it is. */
export function loginOf(random: Random, world: World): [name: string, password: string] {
  if (random.chance(0.4)) return ["{{login name boss}}", "{{password of boss}}"];
  return [known(random, world, "login_name") ?? "", known(random, world, "password") ?? ""];
}

const organization = (random: Random, world: World) =>
  random.chance(0.4) ? nameIn("organization alpha") : known(random, world, "organization");

/** The attacker's own account, of which they are somebody else nowhere. */
const own = (random: Random): string => random.one(["{{user attacker}}", "{{user robot}}"]) ?? "";

/** Roles of the same kind of place. */
const rolesLike = (role: string | undefined): readonly string[] =>
  role === undefined ? allRoles : rolesOf(contextOf(role));

/** A role of these, mostly one that gives something which the attacker has nowhere. */
function roleOf(random: Random, { allowed }: World, roles: readonly string[]): string {
  const held = new Set([...allowed].map((pair) => pair.slice(0, pair.indexOf(" at "))));
  const lacking = roles.filter((role) => [...permissionsOf(role)].some((each) => !held.has(each)));
  return random.one(random.chance(0.5) && lacking.length > 0 ? lacking : roles) ?? "";
}

/** The roads by which power grew before, with words that lead on. */
export const callActions: Actions = {
  call,
  ...factorActions,
  setPassword: rest("setPassword", 3, (random, world, by) => ({
    path: `/users/${userFor(random, world, by)}/password`,
    body: { password: "{{password fresh}}" },
    of: "user",
  })),
  addToken: rest("addToken", 3, (random, world, by) => ({
    path: `/users/${machineFor(random, world, by)}/personal_access_tokens`,
    body: {},
    of: "user",
  })),
  addSecret: rest("addSecret", 1, (random, world, by) => ({
    path: `/users/${machineFor(random, world, by)}/secret`,
    of: "user",
  })),
  addKey: rest("addKey", 1, (random, world, by) => ({
    path: `/users/${machineFor(random, world, by)}/public_keys`,
    body: {},
    of: "user",
  })),
  setMail: rest("setMail", 2, (random, world, by) => ({
    path: `/users/${random.chance(0.5) ? own(random) : userFor(random, world, by)}/email`,
    method: "PUT",
    body: {
      address: known(random, world, "mail") ?? "",
      ...random.one<JsonObject>([{ is_verified: true }, { return_code: {} }, { send_code: {} }]),
    },
    of: "user",
  })),
  verifyMail: rest("verifyMail", 1, (random, world, by) => {
    const code = known(random, world, "code") ?? "";
    const user = random.chance(0.3) ? own(random) : userFor(random, world, by);
    const { id } = matched(random, world, { id: user ?? "", code });
    return { path: `/users/${String(id)}/email/_verify`, body: code, of: "user" };
  }),
  resetCode: rest("resetCode", 2, (random, world, by) => ({
    path: `/users/${userFor(random, world, by)}/password/_reset`,
    body: random.one<JsonObject>([{ return_code: {} }, { send_email: {} }]) ?? {},
    of: "user",
  })),
  passwordByCode: rest("passwordByCode", 2, (random, world, by) => {
    const verification_code = known(random, world, "code") ?? "";
    const user = userFor(random, world, by) ?? "";
    const { id } = matched(random, world, { id: user, verification_code });
    return {
      path: `/users/${String(id)}/password`,
      body: { password: "{{password fresh}}", verification_code },
      of: "user",
    };
  }),
  giveRole: rest("giveRole", 5, (random, world, by) => {
    const role = roleOf(random, world, random.chance(0.5) ? allRoles : rolesLike(world.role));
    return {
      path: "/memberships",
      body: {
        ctx: placeFor(random, world, role),
        user_id: random.chance(0.6) ? own(random) : (userFor(random, world, by) ?? ""),
        roles: [role],
      },
      of: "membership",
    };
  }),
  changeRoles: rest("changeRoles", 3, (random, world) => {
    const theirs = world.book
      .of("membership")
      .filter((each) => /^membership (?:attacker|robot) /.test(each));
    const name = random.chance(0.5) ? random.one(theirs) : undefined;
    const membership = name === undefined ? known(random, world, "membership") : nameIn(name);
    // A membership has roles of its place alone; what the attacker changes is mostly of the place where they are.
    const [, role] = /^\{\{membership .* (\w+)\}\}$/.exec(membership ?? "") ?? [];
    const roles = random.chance(0.9) ? rolesLike(role ?? world.role) : allRoles;
    const kept = role !== undefined && random.chance(0.5) ? [role] : [];
    return {
      path: `/memberships/${membership ?? ""}`,
      method: "PATCH",
      body: { roles: [...new Set([...kept, roleOf(random, world, roles)])] },
      of: "membership",
    };
  }),
  makeMachine: rest("makeMachine", 2, (random, world) => {
    const id = random.chance(0.4) ? known(random, world, "word", "client", "user") : undefined;
    return {
      path: `/users?ctx.org_id=${organization(random, world)}`,
      body: {
        ...(id === undefined ? {} : { user_id: id }),
        username: `machine ${random.below(1e6)}`,
        schema_id: "machine",
        data: { name: "machine" },
      },
      of: "user",
    };
  }),
  openSession: rest("openSession", 2, (random, world) => {
    const isTheirs = [...world.allowed].some((pair) => pair.startsWith("session.write at "));
    if (!isTheirs && !random.chance(0.1)) return undefined;
    const [login_name, password] = loginOf(random, world);
    const checks = { user: { login_name }, password: { password } };
    return { path: "/sessions", body: { checks }, of: "session" };
  }),
  makeApp: rest("makeApp", 2, (random, world) => ({
    path: "/apps",
    body: {
      project_id: known(random, world, "project") ?? "",
      name: `app ${random.below(1e6)}`,
      oidc: appConfig,
    },
    of: "app",
  })),
  takeApp: {
    weight: 3,
    draw(random, world) {
      // The one of the world that has power of its own is worth most.
      const app = random.chance(0.4) ? "{{app trusted}}" : known(random, world, "app");
      const by = bearer(random, world);
      return app === undefined || by === undefined ? undefined : { app, by };
    },
    /** Has the answers of an app sent to the attacker, and proves itself as the app. */
    async run(world, words) {
      const [path, token] = [`${base}/apps/${text(words, "app")}`, text(words, "by")];
      const { host, service } = world;
      const redirect_uris = ["https://rp.test/cb", attackersUri];
      const moved = { method: "PATCH", path, body: { oidc: { redirect_uris } } };
      await callJson(service, { host, token, ...moved });
      const renewed = { host, token, path: `${path}/_regenerate_secret` };
      const { status, json } = await callJson(service, renewed);
      const isDone = status === 200;
      return { isDone, label: "takeApp", of: "app", ...(isDone ? { told: json } : {}) };
    },
  },
  giveAccess: rest("giveAccess", 1, (random, world) => ({
    path: `/apps/${known(random, world, "app")}`,
    method: "PATCH",
    body: { api_access: { permissions: ["*"], instance: true, trusted: random.chance(0.5) } },
    of: "app",
  })),
  moveProvider: rest("moveProvider", 3, (random, world) => ({
    path: `/idps/forge_b/${known(random, world, "idp")}`,
    method: "PATCH",
    body: { config: attackersProvider },
    of: "idp",
  })),
  makeProvider: rest("makeProvider", 1, (random, world) => ({
    path: `/idps/forge_b?ctx.org_id=${organization(random, world)}`,
    body: {
      idp: {
        name: "attacker's",
        options: {
          is_linking_allowed: true,
          is_creation_allowed: true,
          is_auto_creation: true,
          auto_linking: `AUTO_LINKING_OPTION_${random.chance(0.5) ? "EMAIL" : "USERNAME"}`,
        },
      },
      config: attackersProvider,
    },
    of: "idp",
  })),
  claimDomain: rest("claimDomain", 2, (random, world) => ({
    path: `/domains?ctx.org_id=${organization(random, world)}`,
    body: {
      name: known(random, world, "domain") ?? "",
      validation_type: "DOMAIN_VALIDATION_TYPE_DNS",
    },
    of: "domain_object",
  })),
  proveDomain: rest("proveDomain", 2, (random, world) => ({
    path: `/domains/${known(random, world, "domain_object")}/_validate`,
    body: {},
    of: "domain_object",
  })),
  loosen: rest("loosen", 2, (random, world) => ({
    path: `/settings/v3alpha/login?ctx.org_id=${organization(random, world)}`,
    method: "PATCH",
    body:
      random.one<JsonObject>([
        { session_lifetime: { set: "864000s" } },
        { mfa_check_lifetime: { set: "864000s" } },
        { max_password_attempts: { set: 99 } },
        { second_factors: { set: { value: ["totp", "otp_sms"] } } },
        { force_mfa: { set: false } },
      ]) ?? {},
    of: "settings",
  })),
};

const appConfig: JsonObject = {
  redirect_uris: [attackersUri],
  response_types: ["OIDC_RESPONSE_TYPE_CODE"],
  grant_types: ["AUTHORIZATION_CODE", "REFRESH_TOKEN", "DEVICE_CODE", "TOKEN_EXCHANGE"].map(
    (each) => `OIDC_GRANT_TYPE_${each}`,
  ),
  app_type: "OIDC_APP_TYPE_WEB",
  auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC",
};

const attackersProvider: JsonObject = {
  issuer: "{{issuer of attacker}}",
  client_id: "{{client at attacker}}",
  client_secret: "{{secret at attacker}}",
};

/** A place that has the role, mostly the one where the attacker has theirs. */
function placeFor(random: Random, world: World, role: string): JsonObject {
  const field = { instance: "instance", organization: "org", project: "project" }[
    contextOf(role) as string
  ];
  const kind = field === "org" ? "organization" : (field ?? "project_grant");
  const home = contextField(homeOf(role), (of, name) => nameIn(`${of} ${name}`));
  const id = known(random, world, kind);
  if (random.chance(0.6) || id === undefined) return home;
  return { [`${field ?? "project_grant"}_id`]: id };
}
