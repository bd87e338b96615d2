import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { nameIn } from "./book.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

/** One step as it can be taken again: what is done, and with which words; `{{…}}` names what the attacker knows. */
export type Step = { at: number; do: string; with: JsonObject };

/** What came of a step: whether it succeeded, and what the one who took it was told. */
export type Outcome = {
  isDone: boolean;
  /** What the attacker is told; others keep what they hear to themselves. */
  told?: JsonValue;
  /** What was made on the way, by what it is about and a number. */
  made?: Readonly<Record<string, JsonValue>>;
  /** Of which service the objects are that it tells of. */
  of?: string;
  /** What must not have happened. */
  broken?: readonly string[];
  /** For the table of what was tried. */
  label?: string;
  /** Why it was refused, as the service said. */
  why?: string;
};

export type Action = {
  /** How often it is drawn beside others. */
  weight: number | ((world: World) => number);
  /** The words of a step; undefined where the attacker lacks something that it needs. */
  draw(random: Random, world: World): JsonObject | undefined;
  /** Takes the step; its words are texts now. */
  run(world: World, words: JsonObject): Promise<Outcome>;
};

export type Actions = Readonly<Record<string, Action>>;

/** One of what the attacker knows of a kind, as steps name it. */
export function known(random: Random, world: World, ...kinds: readonly string[]) {
  const { book, focus, touched } = world;
  const kind = random.one(kinds.filter((each) => book.of(each).length > 0));
  if (kind === undefined) return undefined;
  // What was changed last may be changed back.
  const last = touched.get(kind);
  if (last !== undefined && random.chance(0.15)) return nameIn(last);
  const all = book.of(kind);
  // Each attacker has a few in mind, and goes on where they are: roads are of several steps about the same ones.
  const [few, recent] = [focus.get(kind) ?? [], all.slice(-3)];
  const drawn = random.next();
  const from = drawn < 0.55 && few.length > 0 ? few : drawn < 0.8 ? recent : all;
  const name = random.one(from);
  return name === undefined ? undefined : nameIn(name);
}

/** Whom a text is about that the attacker was told: who the call was about, or has the address of the mail. */
function aboutWhom({ book, about, mailOf }: World, named: JsonValue | undefined) {
  if (typeof named !== "string") return undefined;
  const [, at, inner = ""] = /^\{\{(\d+)((?:\.\d+)*)\.\w+\}\}$/.exec(named) ?? [];
  if (at === undefined) return undefined;
  const address = `${at}${inner}.address`;
  const user = book.knows(address) ? mailOf.get(book.textOf(address)) : about.get(at);
  return user === undefined ? undefined : nameIn(user);
}

/** Codes and ids of credentials are tried at whom they are of, mostly. */
export function matched(random: Random, world: World, body: JsonObject): JsonObject {
  if (body["id"] === undefined || random.chance(0.2)) return body;
  const inner = Object.values(body).filter(
    (each) => each !== null && typeof each === "object" && !Array.isArray(each),
  );
  for (const [name, value] of [body, ...inner].flatMap((each) => Object.entries(each as object))) {
    if (name === "id" || !/(?:_id|code)$/.test(name)) continue;
    const whom = aboutWhom(world, value as JsonValue);
    if (whom !== undefined) return { ...body, id: whom };
  }
  return body;
}

const mostInMind = 4;

/** Whom and what an attacker has in mind, of all that they know at first. */
export function focusOf(random: Random, { book }: Pick<World, "book">): Map<string, string[]> {
  const kinds = ["user", "organization", "project", "app", "client", "membership", "login_name"];
  const few = ["mail", "idp", "project_grant", ...kinds].map((kind) => {
    const all = [...book.of(kind)];
    const chosen: string[] = [];
    while (chosen.length < mostInMind && all.length > 0) {
      chosen.push(...all.splice(random.below(all.length), 1));
    }
    return [kind, chosen] as const;
  });
  return new Map(few);
}

/** The reason of a refusal in JSON: in clear over REST, in the bytes of its details over Connect. */
export function reasonIn(json: JsonValue): string {
  const said = JSON.stringify(json);
  const inClear = /"reason":"(\w+)"/.exec(said)?.[1];
  if (inClear !== undefined) return inClear;
  const bytes = [...said.matchAll(/"value":"([^"]+)"/g)].map(([, value = ""]) =>
    Buffer.from(value, "base64").toString("latin1"),
  );
  return /[A-Z]{2,}(?:_[A-Z]+)+/.exec(bytes.join(" "))?.[0] ?? "";
}

export const text = (words: JsonObject, name: string): string => String(words[name] ?? "");
export const optional = (words: JsonObject, name: string): string | undefined =>
  words[name] === undefined ? undefined : String(words[name]);
