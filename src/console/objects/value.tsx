import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { at, type Shown, textAt } from "../declared/declare.ts";
import { namedBy } from "../declared/references.ts";
import { saidAttempts } from "../declared/refusals.ts";
import { fieldAt, nameIn } from "../declared/schema.ts";
import { keepOrg } from "../parts/keep-org.ts";
import { Time } from "../parts/time.tsx";
import { durationText, languageText, t } from "../told.ts";
import type { Names } from "./names.ts";

/** What a value is called: the word that a declaration names, else that of its field. */
export const wordOf = ({ path, word }: { path: string; word?: string }): string =>
  t(word ?? `field_${nameIn(path)}`);

/** A value of an object, as its type and its declaration say. */
export function valueOf(
  message: DescMessage | undefined,
  object: JsonObject,
  shown: Shown,
  names: Names,
): ReactNode {
  if (shown.says !== undefined) return t(shown.says(object));
  if (shown.text !== undefined) return shown.text(object) || undefined;
  const value = at(object, shown.path);
  if (isEmpty(value)) return undefined;
  const field = message && fieldAt(message, shown.path);
  return Array.isArray(value) ? (
    <ul>
      {value.map((each) => (
        <li key={JSON.stringify(each)}>{one(field, each, shown.as, names)}</li>
      ))}
    </ul>
  ) : (
    one(field, value, shown.as, names)
  );
}

const isEmpty = (value: JsonValue | undefined): value is undefined | null | "" =>
  value === undefined ||
  value === null ||
  value === "" ||
  (Array.isArray(value) && value.length === 0);

function one(
  field: DescField | undefined,
  value: JsonValue,
  as: Shown["as"],
  names: Names,
): ReactNode {
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  if (as === "language")
    return languageText(typeof value === "string" ? value : textAt(value, "key"));
  if (as === "json" || typeof value === "object") {
    return <pre tabIndex={0}>{JSON.stringify(value, undefined, 2)}</pre>;
  }
  const text = String(value);
  if (as === "code") return <code>{text}</code>;
  if (as === "word") return t(text);
  if (as === "reason") return <Reason reason={text} />;
  if (as === "encoded") return decoded(text);
  if (as === undefined) return plain(field, text);
  const called = names[as].get(text);
  const { to } = namedBy[as];
  if (called === undefined) return <code>{text}</code>;
  const { name, isReadable } = called;
  if (to === undefined || !isReadable) return name;
  return (
    <Link to={to} params={{ id: text }} search={keepOrg}>
      {name}
    </Link>
  );
}

/** Why something was refused: in the reader's language where there are words for it, and as the service calls it. */
function Reason({ reason }: { reason: string }) {
  return (
    <>
      {saidAttempts.includes(reason) && `${t(`attempt_${reason}`)} `}
      <code>{reason}</code>
    </>
  );
}

function plain(field: DescField | undefined, text: string): ReactNode {
  if (field?.enum !== undefined) return isUnspecified(field, text) ? undefined : t(text);
  const type = field?.message?.typeName;
  if (type === TimestampSchema.typeName) return <Time at={text} />;
  if (type === DurationSchema.typeName) return durationText(text);
  return text;
}

const isUnspecified = (field: DescField, text: string): boolean =>
  field.enum?.values.find(({ name }) => name === text)?.number === 0;

/** The text that bytes are, which JSON has in base64. */
export const decoded = (base64: string): string => new TextDecoder().decode(base64Decode(base64));
