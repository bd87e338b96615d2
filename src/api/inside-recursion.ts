import type { DescMessage, Message } from "@bufbuild/protobuf";
import { type Path, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";

/** A message inside another one, and the way to it. */
export type Inside = { type: DescMessage; message: Message; path: Path };

/**
 * Gives every message inside that is of a type which holds itself, such as a filter that holds filters; for all other
 * types nothing.
 *
 * NOTE: protovalidate 1.3 drops the rules of a type that it meets while it is still compiling them, so that it looks
 * only at the outermost of such messages. Those inside must be validated one by one.
 */
export function insideRecursion(type: DescMessage): (message: Message) => Inside[] {
  if (!reachableFrom(type).some(holdsItself)) return () => [];
  return (message) => {
    const found: Inside[] = [];
    collect(reflect(type, message), [], found);
    return found;
  };
}

function collect(outer: ReflectMessage, way: Path, found: Inside[]): void {
  const visit = (inner: ReflectMessage, path: Path) => {
    if (holdsItself(inner.desc)) found.push({ type: inner.desc, message: inner.message, path });
    collect(inner, path, found);
  };
  for (const field of outer.fields) {
    if (!outer.isSet(field) || !isOurs(field.message)) continue;
    if (field.fieldKind === "message") visit(outer.get(field), [...way, field]);
    if (field.fieldKind === "list" && field.listKind === "message") {
      let index = 0;
      for (const item of outer.get(field)) {
        visit(item as ReflectMessage, [...way, field, { kind: "list_sub", index: index++ }]);
      }
    }
  }
}

// The types of protobuf itself have no rules; `Struct` is plain JSON here.
const isOurs = (type: DescMessage | undefined): type is DescMessage =>
  type !== undefined && !type.typeName.startsWith("google.protobuf.");

const recursive = new WeakMap<DescMessage, boolean>();

function holdsItself(type: DescMessage): boolean {
  const known =
    recursive.get(type) ??
    type.fields.some(
      ({ message }) =>
        isOurs(message) && (message === type || reachableFrom(message).includes(type)),
    );
  recursive.set(type, known);
  return known;
}

function reachableFrom(type: DescMessage): DescMessage[] {
  const seen = new Set([type]);
  for (const one of seen) {
    for (const { message } of one.fields) if (isOurs(message)) seen.add(message);
  }
  return [...seen];
}
