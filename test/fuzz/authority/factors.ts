import type { JsonValue } from "@bufbuild/protobuf";
import { Authenticator } from "../../support/authenticator.ts";
import { type Action, type Actions, known, type Outcome, reasonIn, text } from "./action.ts";
import { nameIn } from "./book.ts";
import { bearer, subjectOf } from "./call.ts";
import type { Random } from "./random.ts";
import { callJson } from "./service.ts";
import { totpOf } from "./totp.ts";
import { base, type World } from "./world.ts";

/** A token and a user, mostly the one whom the token is for: what people are asked to do to their own account. */
export function aboutThemselves(
  random: Random,
  world: World,
): { by: string; user: string } | undefined {
  const by = bearer(random, world);
  const subject = random.chance(0.6) ? subjectOf(world, by) : undefined;
  const user = subject ?? userFor(random, world, by);
  return by === undefined || user === undefined ? undefined : { by, user };
}

/** A user for a call with this token: often the one whom it is for. */
export function userFor(random: Random, world: World, by: string | undefined): string | undefined {
  const subject = subjectOf(world, by);
  return subject !== undefined && random.chance(0.5) ? subject : known(random, world, "user");
}

// Of persons nobody else makes standing credentials (J1).
const machines = ["cog", "wheel", "engine"].map((name) => nameIn(`user ${name}`));

/** A user for a call that makes a standing credential: often a machine that others rule too. */
export const machineFor = (random: Random, world: World, by: string | undefined) =>
  random.chance(0.4) ? random.one(machines) : userFor(random, world, by);

/** Notes that the attacker has set something of somebody by which they can log in. */
export function noteTaken({ book }: World, userId: string, kind: "taken" | "with_passkey"): void {
  const name = `login ${(book.nameOf(userId) ?? "").replace(/^user /, "name ")}`;
  if (book.knows(name)) book.add(name, book.textOf(name), kind);
}

type Call = { path: string; body?: JsonValue };

/** Calls that a browser makes for somebody, one after the other, with the same token. */
const callerFor = (world: World, token: string) => async (path: string, body?: JsonValue) => {
  const asked: Call = {
    path: `${base}${encodeURI(path)}`,
    ...(body === undefined ? {} : { body }),
  };
  const { status, json } = await callJson(world.service, { host: world.host, token, ...asked });
  return { isDone: status < 300, json: Object(json ?? {}) as Record<string, JsonValue> };
};

/** Sets up one-time passwords of an app, and proves them. */
const setUpTotp: Action = {
  weight: 2,
  draw: aboutThemselves,
  async run(world, words): Promise<Outcome> {
    const user = text(words, "user");
    const call = callerFor(world, text(words, "by"));
    const { isDone, json } = await call(`/users/${user}/totp`);
    const secret = String(json["secret"] ?? "");
    if (!isDone || secret === "") return { isDone: false, label: "setUpTotp", why: reasonIn(json) };
    const code = totpOf(secret, world.service.now());
    const verified = await call(`/users/${user}/totp/${String(json["totp_id"])}/_verify`, code);
    const told = { secret, totp_id: json["totp_id"] ?? "" };
    return { isDone: verified.isDone, label: "setUpTotp", of: "user", told };
  },
};

/** Sets up a passkey that the attacker has. */
const setUpPasskey: Action = {
  weight: 2,
  draw: aboutThemselves,
  async run(world, words): Promise<Outcome> {
    const user = text(words, "user");
    const call = callerFor(world, text(words, "by"));
    const domain = world.host.replace(/:\d+$/, "");
    const { isDone, json } = await call(`/users/${user}/webauthn`, { domain });
    if (!isDone) return { isDone: false, label: "setUpPasskey", why: reasonIn(json) };
    const passkey = new Authenticator();
    const options = Object(json["public_key_credential_creation_options"] ?? {});
    const public_key_credential = passkey.create(options);
    const path = `/users/${user}/webauthn/${String(json["web_auth_n_id"])}/_verify`;
    const verified = await call(path, { public_key_credential, web_auth_n_name: "attacker's" });
    if (verified.isDone) {
      world.passkeys.set(user, passkey);
      noteTaken(world, user, "with_passkey");
    }
    const told = { web_auth_n_id: json["web_auth_n_id"] ?? "" };
    const why = verified.isDone ? "" : reasonIn(verified.json);
    return { isDone: verified.isDone, label: "setUpPasskey", of: "user", told, why };
  },
};

export const factorActions: Actions = { setUpTotp, setUpPasskey };
