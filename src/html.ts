/** A piece of a page, or the attributes of a tag. Only this file makes one: what is text stays text. */
class Written {
  readonly kind: "markup" | "attributes";
  readonly #text: string;

  constructor(kind: Written["kind"], text: string) {
    this.kind = kind;
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

export type Html = Written & { kind: "markup" };
export type Attributes = Written & { kind: "attributes" };

/** What may stand in a template. Nothing is written for `undefined` and `false`. */
export type Value = string | number | Written | undefined | false | readonly Value[];

type Position = "text" | "attribute" | "tag" | "style";

const known = new WeakMap<TemplateStringsArray, Position[]>();

/**
 * Markup with values in it, each escaped for the position where it stands. A string is never taken for markup; there is no
 * way around.
 *
 * Between tags stand texts and markup, within double quotes only texts, in a tag only `attributes`, in a style only
 * colours as `#rrggbb`.
 *
 * @throws TypeError for anything else, and for a value in a script or in an attribute without quotes, where escaping
 * would not help
 */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  const positions = known.get(parts) ?? positionsOf(parts);
  const written = parts.raw.reduce((text, part, at) => {
    const position = positions[at - 1];
    return `${text}${position === undefined ? "" : write(values[at - 1], position)}${part}`;
  });
  return new Written("markup", written) as Html;
}

/**
 * Attributes of a tag. `true` writes the name alone; nothing is written for `undefined` and `false`.
 *
 * @throws TypeError for handlers of events and for styles, which the content security policy forbids
 */
export function attributes(all: Record<string, string | number | boolean | undefined>): Attributes {
  const written = Object.entries(all).map(([name, value]) => {
    if (!/^[a-z][a-z-]*$/.test(name) || /^(?:on|style$)/.test(name)) refuse(name);
    if (value === undefined || value === false) return "";
    return value === true ? ` ${name}` : ` ${name}="${escape(String(value))}"`;
  });
  return new Written("attributes", written.join("").trimStart()) as Attributes;
}

function write(value: Value, position: Position): string {
  if (value === undefined || value === false) return "";
  if (value instanceof Written) {
    const fits = value.kind === "attributes" ? position === "tag" : position === "text";
    return fits ? value.toString() : refuse(value.toString());
  }
  if (typeof value === "object") return value.map((one) => write(one, position)).join("");
  const text = String(value);
  if (position === "text" || position === "attribute") return escape(text);
  return position === "style" && /^#[0-9a-f]{6}$/.test(text) ? text : refuse(text);
}

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

function positionsOf(parts: TemplateStringsArray): Position[] {
  let position: Position | "script" = "text";
  let tag = "";
  const positions = parts.raw.slice(0, -1).map((part) => {
    for (const [character] of part.matchAll(/<\/?[a-z!][a-z0-9]*|[">]/g)) {
      if (position === "attribute") position = character === '"' ? "tag" : position;
      else if (position === "tag") {
        if (character === '"') position = "attribute";
        if (character === ">")
          position = tag === "<script" ? "script" : tag === "<style" ? "style" : "text";
      } else if (
        character === `</${tag.slice(1)}` ||
        (position === "text" && character[0] === "<")
      ) {
        tag = character;
        position = "tag";
      }
    }
    const isBare = position === "tag" ? !/\s$/.test(part) : /<\/?$/.test(part);
    if (position === "script" || isBare) refuse(part.slice(-40));
    return position;
  });
  known.set(parts, positions);
  return positions;
}

function refuse(what: string): never {
  throw new TypeError(`this may not stand here in a page: ${what.slice(0, 80)}`);
}
