import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { at, type Named, type Shown, textAt } from "../declared/declare.ts";
import { namedBy, references } from "../declared/references.ts";
import { saidAttempts } from "../declared/refusals.ts";
import { fieldAt, nameIn } from "../declared/schema.ts";
import { keepOrg } from "../parts/keep-org.ts";
import { Parted } from "../parts/parted.tsx";
import { Time } from "../parts/time.tsx";
import { durationText, languageText, t, timeText } from "../page-data.ts";
import { useOrg, useRights } from "../rights.ts";
import { pages } from "../routes.ts";
import type { Called, Names } from "./names.ts";
import style from "./objects.module.css";

/** What a value is called: the word that a declaration names, else that of its field. */
export const wordOf = ({ path, word }: { path: string; word?: string }): string =>
  t(word ?? `field_${nameIn(path)}`);

/** Any value in one line. */
export const textOf = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  if (Array.isArray(value)) return value.map((each) => textOf(each)).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};

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
  if (isEmpty(value)) return shown.empty === undefined ? undefined : t(shown.empty);
  if (value === "0s" && shown.zero !== undefined) return t(shown.zero);
  if (shown.as === "request") return <Request event={object} id={textOf(value)} />;
  const field = message && fieldAt(message, shown.path);
  return Array.isArray(value) ? (
    <ul>
      {value.map((each) => (
        <li key={JSON.stringify(each)}>{one(field, each, shown, names)}</li>
      ))}
    </ul>
  ) : (
    one(field, value, shown, names)
  );
}

/** What a row is called by its first column: what its ID names, a time as it is shown, else the text there. */
export function rowName(
  message: DescMessage | undefined,
  row: JsonObject,
  { path, as, named }: Shown,
  names: Names,
): string {
  const text = textOf(at(row, path));
  const reference = references.find((each) => each === as);
  if (reference !== undefined) return names[reference].get(text)?.name ?? text;
  if (named !== undefined) return names.own.get(text)?.name ?? text;
  const type = message && fieldAt(message, path)?.message?.typeName;
  return type === TimestampSchema.typeName && text !== "" ? timeText(new Date(text)) : text;
}

const isEmpty = (value: JsonValue | undefined): value is undefined | null | "" =>
  value === undefined ||
  value === null ||
  value === "" ||
  (Array.isArray(value) && value.length === 0);

function one(
  field: DescField | undefined,
  value: JsonValue,
  { as, named, values }: Shown,
  names: Names,
): ReactNode {
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  if (as === "language")
    return languageText(typeof value === "string" ? value : textAt(value, "key"));
  if (as === "json" || typeof value === "object") {
    return <pre tabIndex={0}>{JSON.stringify(value, undefined, 2)}</pre>;
  }
  const text = String(value);
  const word = values?.[text];
  if (word !== undefined) return t(word);
  if (as === "code") return <Code text={text} />;
  if (as === "word") return t(text);
  if (as === "reason") return <Reason reason={text} />;
  if (as === "encoded") return decoded(text);
  if (named !== undefined) return linked(text, named, names.own);
  if (as === undefined || as === "request") return plain(field, text);
  return linked(text, namedBy[as], names[as]);
}

const eventsPage = pages.find(({ path }) => path === "/events");

/** The request that an event comes of, which leads to all that it did, where the reader may see that. */
function Request({ event, id }: { event: JsonObject; id: string }) {
  const { reach } = useRights();
  const org = useOrg();
  const search = eventsPage && reach(eventsPage, org);
  if (search === undefined) return <Code text={id} />;
  return (
    <Link to="/events" search={{ ...search, request: id, near: textAt(event, "sequence") }}>
      <Code text={id} />
    </Link>
  );
}

/** What an ID names, as far as the reader may know it. */
function linked(text: string, { to }: Named, names: ReadonlyMap<string, Called>): ReactNode {
  const called = names.get(text);
  // It stands where a name would, which is shorter in most tables: it may break anywhere.
  if (called === undefined) return <code>{text}</code>;
  const { name, isReadable } = called;
  if (to === undefined || !isReadable) return name;
  return (
    <Link to={to} params={{ id: text }} search={keepOrg}>
      {name}
    </Link>
  );
}

const longestWhole = 20;

/** A text for programs. Its lines break between its parts, and within a part only where that is long. */
function Code({ text }: { text: string }) {
  return (
    <code>
      {text.split(/(?<=[.:/@_-])/).map((part, nth) => (
        <Fragment key={nth}>
          {part.length > longestWhole ? part : <span className={style["whole"]}>{part}</span>}
          <wbr />
        </Fragment>
      ))}
    </code>
  );
}

/** Why something was refused: in the reader's language where there are words for it, and as the service calls it. */
function Reason({ reason }: { reason: string }) {
  return (
    <>
      {saidAttempts.includes(reason) && `${t(`attempt_${reason}`)} `}
      <Code text={reason} />
    </>
  );
}

function plain(field: DescField | undefined, text: string): ReactNode {
  if (field?.enum !== undefined) return isUnspecified(field, text) ? undefined : t(text);
  const type = field?.message?.typeName;
  if (type === TimestampSchema.typeName) return <Time at={text} />;
  if (type === DurationSchema.typeName) return durationText(text);
  return <Parted text={text} />;
}

const isUnspecified = (field: DescField, text: string): boolean =>
  field.enum?.values.find(({ name }) => name === text)?.number === 0;

/** The text that bytes are, which JSON has in base64. */
export const decoded = (base64: string): string => new TextDecoder().decode(base64Decode(base64));
