import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Field, Path, Shown } from "./declare.ts";
import { fieldAt } from "./schema.ts";

/** Messages that one control, or none, is for. */
const isLeaf = ({ message, fieldKind }: DescField): boolean =>
  message === undefined || fieldKind === "list" || message.typeName.startsWith("google.");

/** All fields of a part of a request, as the schema has them; those in messages too. */
export const fieldsIn = (request: DescMessage, path: Path, but: readonly string[] = []): Field[] =>
  (fieldAt(request, path)?.message?.fields ?? [])
    .filter(({ name }) => !but.includes(name))
    .flatMap((field) => {
      const inside = `${path}.${field.name}`;
      return isLeaf(field) ? [{ path: inside }] : fieldsIn(request, inside, but);
    });

/** The same of an object, as it is shown. */
export const shownIn = (object: DescMessage, path: Path): Shown[] =>
  fieldsIn(object, path).map((field) => ({ path: field.path }));
