import type { JsonObject } from "@bufbuild/protobuf";
import { forgeJwt } from "../../support/forge.ts";
import { type Action, type Actions, known, optional, text } from "./action.ts";
import { type Book, nameIn } from "./book.ts";
import { askDevice, askToken, post, redeem } from "./flows.ts";
import { everything, told } from "./pages.ts";
import type { Random } from "./random.ts";
import { attackersUri, ownApi, type World } from "./world.ts";

const exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange";
const tokenType = (name: string) => `urn:ietf:params:oauth:token-type:${name}`;

/** The client that a secret is of: both were told in one answer, or it is of an app of the world. */
function clientOf(book: Book, secret: string): string | undefined {
  if (secret.startsWith("client secret ")) return `client ${secret.slice(14)}`;
  const answer = secret.replace(/\.client_secret$/, "");
  if (book.knows(`${answer}.client_id`)) return `${answer}.client_id`;
  if (!book.knows(`${answer}.details.id`)) return undefined;
  const id = book.nameOf(book.textOf(`${answer}.details.id`)) ?? "";
  if (id.startsWith("app ")) return `client ${id.slice(4)}`;
  const made = id.replace(/\.details\.id$/, ".client_id");
  return book.knows(made) ? made : undefined;
}

/** A client as which the attacker can speak; that one, where they can. */
function ownClient(random: Random, { book }: World, wanted?: string): JsonObject | undefined {
  const all = book.of("secret");
  const fitting = wanted === undefined ? [] : all.filter((each) => clientOf(book, each) === wanted);
  // A new secret takes the place of an old one.
  const secrets = fitting.length > 0 ? fitting.slice(-1) : all;
  const secret = random.one(random.chance(0.5) ? secrets.slice(-3) : secrets);
  const client = secret === undefined ? undefined : clientOf(book, secret);
  if (secret === undefined || client === undefined) return undefined;
  return { client_id: nameIn(client), client_secret: nameIn(secret) };
}

const clientIn = (words: JsonObject) => ({
  clientId: text(words, "client_id"),
  secret: optional(words, "client_secret"),
});

/** The words of a step that a form says; what the client proves itself with stands beside it. */
const formOf = (words: JsonObject): Record<string, string> =>
  Object.fromEntries(
    Object.entries(words)
      .filter(([name]) => name !== "client_id" && name !== "client_secret")
      .map(([name, value]) => [name, String(value)]),
  );

/** The client that a code is for, which stood in the link that led to it. */
function clientOfCode(book: Book, code: string): string | undefined {
  const name = code.slice(2, -2).replace(/authorization_code$/, "client_id");
  return book.knows(name) ? book.nameOf(book.textOf(name)) : undefined;
}

const redeemCode: Action = {
  weight: 6,
  draw(random, world) {
    const code = known(random, world, "authorization_code");
    const client = ownClient(random, world, code && clientOfCode(world.book, code));
    return code === undefined || client === undefined ? undefined : { code, ...client };
  },
  run: async (world, words) =>
    told(
      "redeem",
      await redeem(
        world,
        { code: text(words, "code"), redirectUri: attackersUri },
        clientIn(words),
      ),
    ),
};

const scopeOf = (random: Random): string =>
  random.one([everything, ownApi, "openid", "openid email", "openid profile email phone"]) ?? "";

const clientCredentials: Action = {
  weight: 2,
  draw(random, world) {
    const client = ownClient(random, world);
    return client === undefined ? undefined : { scope: scopeOf(random), ...client };
  },
  run: async (world, words) =>
    told(
      "clientCredentials",
      await askToken(
        world,
        { grant_type: "client_credentials", scope: text(words, "scope") },
        clientIn(words),
      ),
    ),
};

const refresh: Action = {
  weight: 2,
  draw(random, world) {
    const refresh_token = known(random, world, "refresh_token");
    const client = random.chance(0.3)
      ? { client_id: "{{client console}}" }
      : ownClient(random, world);
    if (refresh_token === undefined || client === undefined) return undefined;
    return { refresh_token, ...client, ...(random.chance(0.5) ? { scope: scopeOf(random) } : {}) };
  },
  async run(world, words) {
    const grant = { grant_type: "refresh_token", ...formOf(words) };
    return told("refresh", await askToken(world, grant, clientIn(words)));
  },
};

const exchange: Action = {
  weight: 3,
  draw(random, world) {
    const client = ownClient(random, world);
    const kind = random.one(["access_token", "access_token", "id_token", "user_id"]) ?? "";
    const subject = known(
      random,
      world,
      { access_token: "access", id_token: "id_token" }[kind] ?? "user",
    );
    if (client === undefined || subject === undefined) return undefined;
    const actor = random.chance(kind === "user_id" ? 0.9 : 0.15)
      ? known(random, world, "bearer")
      : undefined;
    const projects = known(random, world, "project");
    return {
      ...client,
      subject_token: subject,
      subject_token_type:
        kind === "user_id" ? "urn:idsvc:params:oauth:token-type:user_id" : tokenType(kind),
      ...(actor === undefined
        ? {}
        : { actor_token: actor, actor_token_type: tokenType("access_token") }),
      scope: random.chance(0.8)
        ? scopeOf(random)
        : `openid urn:idsvc:iam:org:project:id:${projects}:aud`,
    };
  },
  async run(world, words) {
    const { service, host, instanceId } = world;
    const source = await service.ports.tokens.accessToken(
      service.atOf(instanceId, host),
      text(words, "subject_token"),
    );
    const grant = { grant_type: exchangeGrant, ...formOf(words) };
    const answer = await askToken(world, grant, clientIn(words));
    const got = String(Object(answer.json ?? {}).scope ?? "").split(" ");
    const more = got.filter((word) => word !== "" && source?.scope.includes(word) !== true);
    const isWider = answer.status === 200 && source !== undefined && more.length > 0;
    const isAlone = optional(words, "actor_token") === undefined;
    return {
      ...told("exchange", answer),
      ...(isWider && isAlone ? { broken: [`J6: exchanged for more: ${more.join(" ")}`] } : {}),
    };
  },
};

const device: Action = {
  weight: 1,
  draw(random, world) {
    const client = ownClient(random, world);
    return client === undefined ? undefined : { scope: scopeOf(random), ...client };
  },
  run: async (world, words) =>
    told("device", await askDevice(world, text(words, "scope"), clientIn(words))),
};

const poll: Action = {
  weight: 1,
  draw(random, world) {
    const device_code = known(random, world, "device_code");
    const client = ownClient(random, world);
    return device_code === undefined || client === undefined
      ? undefined
      : { device_code, ...client };
  },
  async run(world, words) {
    const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
    const form = { grant_type, device_code: text(words, "device_code") };
    return told("poll", await askToken(world, form, clientIn(words)));
  },
};

/** Proves itself by the key of a machine user (RFC 7523). */
const useKey: Action = {
  weight: 1,
  draw(random, world) {
    const keys = world.book.of("pem").filter((name) => name.endsWith(".key_file.key"));
    const key = random.one(keys);
    return key === undefined ? undefined : { file: key.slice(0, -4), scope: scopeOf(random) };
  },
  async run(world, words) {
    const { book, host, service } = world;
    const file = text(words, "file");
    const [kid, key, userId] = ["key_id", "key", "user_id"].map((name) =>
      book.textOf(`${file}.${name}`),
    );
    const seconds = Math.floor(service.now().getTime() / 1_000);
    const claims = {
      iss: userId,
      sub: userId,
      aud: `http://${host}`,
      iat: seconds,
      exp: seconds + 300,
    };
    const assertion = forgeJwt({ alg: "RS256", kid }, claims, key ?? "");
    const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    const form = { grant_type, assertion, scope: text(words, "scope") };
    return told("useKey", await post(world, "/oauth/v2/token", form, { clientId: userId ?? "" }));
  },
};

export const attackActions: Actions = {
  redeemCode,
  clientCredentials,
  refresh,
  exchange,
  device,
  poll,
  useKey,
};
