import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { sameJson } from "../object/same-json.ts";
import { below, isObject } from "./json.ts";

/** The keyword that says who may read and write a property: `{"owner": "rw", "self": "r"}`. */
export const permissionKeyword = "urn:idsvc:schema:permission";

/** In what part somebody acts: as who manages the user, or as the user. */
export type Actor = "owner" | "self";

type Access = "r" | "rw" | "none";
type Rights = Record<Actor, Access>;

/**
 * Who may do what to a property, and to those in it that the schema names. A property without the keyword has the
 * rights of what it stands in, the root those below; an actor whom a keyword leaves out may do nothing.
 */
export type Permissions = { rights: Rights; properties: ReadonlyMap<string, Permissions> };

const rootRights: Rights = { owner: "rw", self: "r" };

/** Says what is wrong with the value of the keyword. */
export function wrongPermission(value: JsonValue): string | undefined {
  const isRight =
    isObject(value) &&
    Object.entries(value).every(
      ([actor, access]) =>
        (actor === "owner" || actor === "self") && (access === "r" || access === "rw"),
    );
  return isRight ? undefined : 'must be an object of "owner" and "self", each "r" or "rw"';
}

/** The permissions of a document that has proven to be a schema: no `$ref` in it runs in a circle. */
export function permissionsOf(root: JsonObject): Permissions {
  return read(root, rootRights);

  function read(schema: JsonValue | undefined, inherited: Rights): Permissions {
    const layers = layersOf(schema);
    const keyword = layers.map((layer) => layer[permissionKeyword]).find(isObject);
    const rights = keyword === undefined ? inherited : rightsOf(keyword);
    const properties = new Map<string, Permissions>();
    for (const { properties: named } of layers) {
      if (!isObject(named)) continue;
      for (const [name, one] of Object.entries(named)) {
        if (!properties.has(name)) properties.set(name, read(one, rights));
      }
    }
    return { rights, properties };
  }

  // A schema, what it refers to, and so on: the nearest one that says something counts.
  function layersOf(schema: JsonValue | undefined): JsonObject[] {
    if (!isObject(schema)) return [];
    const reference = schema["$ref"];
    return typeof reference === "string"
      ? [schema, ...layersOf(referredBy(root, reference))]
      : [schema];
  }
}

const rightsOf = ({ owner, self }: JsonObject): Rights => ({
  owner: accessOf(owner),
  self: accessOf(self),
});

const accessOf = (value: JsonValue | undefined): Access =>
  value === "r" || value === "rw" ? value : "none";

/** The part of a document that a `$ref` of it leads to. */
export function referredBy(root: JsonObject, reference: string): JsonValue | undefined {
  return namesOf(reference).reduce<JsonValue | undefined>((inner, name) => {
    if (Array.isArray(inner)) return /^\d+$/.test(name) ? inner[Number(name)] : undefined;
    return isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined;
  }, root);
}

/** The names that a `$ref` goes through, from the root (RFC 6901 section 6). */
export const namesOf = (reference: string): string[] =>
  decodeURIComponent(reference)
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));

const within = (permissions: Permissions, name: string): Permissions =>
  permissions.properties.get(name) ?? { rights: permissions.rights, properties: new Map() };

/** The part of the data that the actor may read. */
export function readable(permissions: Permissions, data: JsonObject, as: Actor): JsonObject {
  const seen: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(data)) {
    const own = within(permissions, name);
    const mayRead = own.rights[as] !== "none";
    if (own.properties.size === 0 || !isObject(value)) {
      if (mayRead) seen.push([name, value]);
      continue;
    }
    const inside = readable(own, value, as);
    if (mayRead || Object.keys(inside).length > 0) seen.push([name, inside]);
  }
  return Object.fromEntries(seen);
}

/**
 * The first property that a patch names and that the actor may not write. What they may read may be sent as it is; what they
 * may not read is refused whatever stands there, so that no guess is confirmed.
 *
 * @param before what stands there, and `after` what the patch makes of it
 */
export function unwritable(
  permissions: Permissions,
  { patch, before, after }: { patch: JsonObject; before: JsonObject; after: JsonObject },
  as: Actor,
  path: string,
): string | undefined {
  for (const [name, value] of Object.entries(patch)) {
    const own = within(permissions, name);
    const [at, old, made] = [below(path, name), before[name], after[name]];
    const isPartial = own.properties.size > 0 && isObject(value) && Object.keys(value).length > 0;
    if (isPartial && isObject(old ?? {})) {
      const parts = { patch: value, before: inside(old), after: inside(made) };
      const refused = unwritable(own, parts, as, at);
      if (refused !== undefined) return refused;
    } else if (hidesFrom(own, as) || !mayChange(own, [old, made], as)) return at;
  }
  return undefined;
}

const inside = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

/** Whether there may be something in a property that the actor may not read. */
const hidesFrom = ({ rights, properties }: Permissions, as: Actor): boolean =>
  rights[as] === "none" || [...properties.values()].some((each) => hidesFrom(each, as));

/**
 * Whether the actor may write all that differs. An object that the schema looks into changes by its properties; one that comes
 * or goes empty, and what is no object, as a whole.
 */
function mayChange(
  permissions: Permissions,
  [old, made]: [JsonValue | undefined, JsonValue | undefined],
  as: Actor,
): boolean {
  if (sameJson(old, made)) return true;
  const { rights, properties } = permissions;
  if (properties.size === 0) return rights[as] === "rw";
  const [before, after] = [inside(old), inside(made)];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const isWhole = names.size === 0 || !isObject(old ?? {}) || !isObject(made ?? {});
  return (
    (!isWhole || rights[as] === "rw") &&
    [...names].every((name) =>
      mayChange(within(permissions, name), [before[name], after[name]], as),
    )
  );
}
