import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

const named = /\{\{([^{}]+)\}\}/g;

/** Raised where a step names what was never learned: one that taught it was left out. */
export class NotLearned extends Error {}

/**
 * What the attacker knows: texts by names that are the same whenever the same steps are taken, so that steps which name
 * them can be taken again in another world, where the texts are others. Each is of kinds by which steps look for it.
 */
export class Book {
  readonly #texts = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #kinds = new Map<string, string[]>();

  /** Notes a text under a name; gives the name by which it is known, which may be an older one. */
  add(name: string, text: string, ...kinds: readonly string[]): string {
    const known = this.#names.get(text) ?? name;
    if (known === name) {
      this.#texts.set(name, text);
      this.#names.set(text, name);
    } else this.#texts.set(name, text);
    for (const kind of kinds) {
      const all = this.#kinds.get(kind) ?? [];
      if (all.length === 0) this.#kinds.set(kind, all);
      if (!all.includes(known)) all.push(known);
    }
    return known;
  }

  has(text: string): boolean {
    return this.#names.has(text);
  }

  nameOf(text: string): string | undefined {
    return this.#names.get(text);
  }

  textOf(name: string): string {
    const text = this.#texts.get(name);
    if (text === undefined) throw new NotLearned(name);
    return text;
  }

  of(kind: string): readonly string[] {
    return this.#kinds.get(kind) ?? [];
  }

  forget(kind: string, name: string): void {
    const all = this.#kinds.get(kind);
    const at = all?.indexOf(name) ?? -1;
    if (at >= 0) all?.splice(at, 1);
  }

  knows(name: string): boolean {
    return this.#texts.has(name);
  }

  /** The value with all names that it holds replaced by texts. @throws NotLearned */
  fill<V extends JsonValue>(value: V): V;
  fill(value: JsonValue): JsonValue {
    if (typeof value === "string") {
      return value.replaceAll(named, (_, name: string) => this.textOf(name));
    }
    if (Array.isArray(value)) return value.map((each) => this.fill(each));
    if (value === null || typeof value !== "object") return value;
    const members = Object.entries(value).map(([key, each]) => [key, this.fill(each)]);
    return Object.fromEntries(members) as JsonObject;
  }
}

export const nameIn = (name: string): string => `{{${name}}}`;
