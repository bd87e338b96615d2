import { type DescField, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { DurationSchema, StructSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { useId, useState } from "react";
import type { Field } from "../declared/declare.ts";
import { nameIn } from "../declared/schema.ts";
import { decoded, wordOf } from "../objects/value.tsx";
import { Parted } from "../parts/parted.tsx";
import { secondsOf, t, unitText, units, zone } from "../page-data.ts";
import style from "./forms.module.css";
import { Labelled } from "./labelled.tsx";

/** What the schema demands of a field, as far as a control shows it. */
export type Rule = {
  required?: true;
  filled?: true;
  secret?: true;
  mail?: true;
  maxLength?: number;
  pattern?: string;
  least?: number;
  most?: number;
};

export type ControlProps = {
  field: Field;
  desc: DescField | undefined;
  rule: Rule;
  value: JsonValue | undefined;
  isRequired: boolean;
  error: string | undefined;
  set: (value: JsonValue) => void;
};

/** A field of a form: its label, the control for its type, and what is wrong with what stands there. */
export function Control(props: ControlProps) {
  const { desc, field } = props;
  if (desc?.fieldKind === "scalar" && desc.scalar === ScalarType.BOOL) return <YesNo {...props} />;
  if (desc?.fieldKind === "list" && desc.enum !== undefined) return <Several {...props} />;
  if (desc?.fieldKind === "enum") return <OneOf {...props} />;
  const type = desc?.message?.typeName;
  if (type === DurationSchema.typeName) return <Span {...props} />;
  if (type === TimestampSchema.typeName) return <Instant {...props} />;
  if (type === StructSchema.typeName && nameIn(field.path) === desc?.name) {
    return <Json {...props} />;
  }
  if (desc?.fieldKind === "list") return <Lines {...props} />;
  if (field.as === "text") return <Text {...props} />;
  if (desc?.fieldKind === "scalar" && desc.scalar === ScalarType.BYTES && field.as !== "encoded") {
    return <File {...props} />;
  }
  return field.as === "encoded" ? <Encoded {...props} /> : <Line {...props} />;
}

const hintOf = ({ hint }: Field): string | undefined =>
  hint && t(hint).replace("{origin}", location.origin);

const textOf = (value: JsonValue | undefined): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

function Line({ field, desc, rule, value, isRequired, error, set }: ControlProps) {
  const isNumber =
    desc?.fieldKind === "scalar" &&
    [ScalarType.UINT32, ScalarType.UINT64, ScalarType.INT32].includes(desc.scalar);
  const isPassword = field.as === "password" || rule.secret === true;
  const type = isNumber ? "number" : isPassword ? "password" : rule.mail ? "email" : "text";
  return (
    <Labelled word={wordOf(field)} hint={hintOf(field)} {...{ isRequired, error }}>
      {({ id, describedBy }) => (
        <input
          id={id}
          type={type}
          name={field.path}
          required={isRequired}
          maxLength={rule.maxLength}
          min={rule.least}
          max={rule.most}
          pattern={rule.pattern}
          autoComplete={isPassword ? "new-password" : "off"}
          aria-invalid={error !== undefined}
          aria-describedby={describedBy}
          value={textOf(value)}
          onChange={({ target }) => set(target.value)}
        />
      )}
    </Labelled>
  );
}

/** A text that is sent as bytes. */
function Encoded({ set, value, ...props }: ControlProps) {
  const text = typeof value === "string" ? decoded(value) : "";
  const send = (given: JsonValue) =>
    set(typeof given === "string" ? base64Encode(new TextEncoder().encode(given)) : "");
  return <Line {...props} desc={undefined} value={text} set={send} />;
}

function YesNo({ field, value, error, set }: ControlProps) {
  const id = useId();
  return (
    <div className={style["field"]}>
      <label className={style["check"]} htmlFor={id}>
        <input
          id={id}
          type="checkbox"
          name={field.path}
          checked={value === true}
          onChange={({ target }) => set(target.checked)}
        />
        {wordOf(field)}
      </label>
      {error !== undefined && <p className={style["wrong"]}>{error}</p>}
    </div>
  );
}

/** The values of an enumeration but for the one that stands for none. */
const valuesOf = (desc: DescField | undefined): string[] =>
  (desc?.enum?.values ?? []).filter(({ number }) => number !== 0).map(({ name }) => name);

function OneOf(props: ControlProps) {
  const options = valuesOf(props.desc).map((each) => ({ value: each, label: t(each) }));
  return <Select {...props} options={options} />;
}

/** One of some values. */
export function Select({
  field,
  value,
  isRequired,
  error,
  set,
  options,
}: ControlProps & { options: readonly { value: string; label: string }[] }) {
  const chosen = textOf(value);
  return (
    <Labelled word={wordOf(field)} {...{ isRequired, error }}>
      {({ id, describedBy }) => (
        <select
          id={id}
          name={field.path}
          required={isRequired}
          aria-describedby={describedBy}
          value={options.some((each) => each.value === chosen) ? chosen : ""}
          onChange={({ target }) => set(target.value)}
        >
          <option value="">{t("notChosen")}</option>
          {options.map((each) => (
            <option key={each.value} value={each.value}>
              {each.label}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

function Several(props: ControlProps) {
  const options = valuesOf(props.desc).map((value) => ({ value, label: t(value) }));
  return <Checks {...props} options={options} />;
}

/** Several of some values. */
export function Checks({
  field,
  value,
  error,
  set,
  options,
}: Pick<ControlProps, "field" | "value" | "error" | "set"> & {
  options: readonly { value: string; label: string }[];
}) {
  const chosen = Array.isArray(value) ? value : [];
  return (
    <fieldset className={style["field"]}>
      <legend>{wordOf(field)}</legend>
      {options.map((option) => (
        <label key={option.value} className={style["check"]}>
          <input
            type="checkbox"
            name={field.path}
            checked={chosen.includes(option.value)}
            onChange={({ target }) =>
              set(
                target.checked
                  ? [...chosen, option.value]
                  : chosen.filter((each) => each !== option.value),
              )
            }
          />
          <span>
            <Parted text={option.label} />
          </span>
        </label>
      ))}
      {error !== undefined && <p className={style["wrong"]}>{error}</p>}
    </fieldset>
  );
}

/** The lines of a text, in a field that is as high as so many of them. */
function Area({
  field,
  rule,
  isRequired,
  error,
  word = wordOf(field),
  hint,
  rows,
  value,
  read,
}: Pick<ControlProps, "field" | "rule" | "isRequired" | "error"> & {
  word?: string;
  hint?: string | undefined;
  rows: number;
  value: string;
  read: (input: HTMLTextAreaElement) => void;
}) {
  return (
    <Labelled {...{ word, isRequired, error, hint }}>
      {({ id, describedBy }) => (
        <textarea
          id={id}
          name={field.path}
          rows={rows}
          maxLength={rule.maxLength}
          required={isRequired}
          aria-invalid={error !== undefined}
          aria-describedby={describedBy}
          value={value}
          onChange={({ target }) => read(target)}
        />
      )}
    </Labelled>
  );
}

/** A list of texts, one a line. */
function Lines({ value, set, ...props }: ControlProps) {
  const { field } = props;
  const [typed, setTyped] = useState(Array.isArray(value) ? value.map(textOf).join("\n") : "");
  const read = ({ value: text }: HTMLTextAreaElement) => {
    setTyped(text);
    const lines = text.split("\n").flatMap((line) => line.trim() || []);
    set(field.as === "redirects" ? lines.map(redirectOf) : lines);
  };
  return (
    <Area
      {...props}
      // The rule is that of each line.
      rule={{}}
      word={`${wordOf(field)} (${t("onePerLine")})`}
      hint={field.as === "redirects" ? t("redirectsHint") : undefined}
      {...{ rows: 3, value: typed, read }}
    />
  );
}

/** The redirect address of a request that is pasted whole, as the log-in refused it; else the line itself. */
const redirectOf = (line: string): string =>
  URL.parse(line)?.searchParams.get("redirect_uri") ?? line;

/** A text of several lines. */
const Text = ({ value, set, ...props }: ControlProps) => (
  <Area {...props} rows={3} value={textOf(value)} read={(input) => set(input.value)} />
);

/** Free JSON, which is sent once it is one. */
function Json({ value, set, ...props }: ControlProps) {
  const [typed, setTyped] = useState(
    value === undefined || value === null ? "" : JSON.stringify(value, undefined, 2),
  );
  const read = (input: HTMLTextAreaElement) => {
    setTyped(input.value);
    try {
      set(input.value === "" ? null : (JSON.parse(input.value) as JsonValue));
      input.setCustomValidity("");
    } catch (wrong) {
      input.setCustomValidity(String(wrong));
    }
  };
  return <Area {...props} rule={{}} rows={12} value={typed} read={read} />;
}

/** A span of time: how many of which unit. */
function Span({ field, value, isRequired, error, set }: ControlProps) {
  const seconds = typeof value === "string" && value !== "" ? secondsOf(value) : undefined;
  const fitting = units.findIndex(([, length]) => (seconds ?? 1) % length === 0);
  const [unit, setUnit] = useState(seconds === undefined ? 1 : Math.max(0, fitting));
  const length = units[unit]?.[1] ?? 1;
  const send = (count: string, each: number) =>
    set(count === "" ? "" : `${Math.round(Number(count) * each)}s`);
  const count = seconds === undefined ? "" : String(seconds / length);
  return (
    <Labelled word={wordOf(field)} {...{ isRequired, error }}>
      {({ id, describedBy }) => (
        <span className={style["span"]}>
          <input
            id={id}
            type="number"
            step="any"
            min={0}
            name={field.path}
            required={isRequired}
            aria-invalid={error !== undefined}
            aria-describedby={describedBy}
            value={count}
            onChange={({ target }) => send(target.value, length)}
          />
          <select
            aria-label={`${wordOf(field)}: ${t("unit")}`}
            value={unit}
            onChange={({ target }) => {
              setUnit(Number(target.value));
              send(count, units[Number(target.value)]?.[1] ?? 1);
            }}
          >
            {units.map(([name], place) => (
              <option key={name} value={place}>
                {unitText(name)}
              </option>
            ))}
          </select>
        </span>
      )}
    </Labelled>
  );
}

const pad = (value: number): string => String(value).padStart(2, "0");
const localText = (date: Date): string =>
  `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}T${pad(date.getHours())}:${pad(date.getMinutes())}`;

function Instant({ field, value, isRequired, error, set }: ControlProps) {
  const text = textOf(value);
  return (
    <Labelled word={`${wordOf(field)} (${zone})`} {...{ isRequired, error }}>
      {({ id, describedBy }) => (
        <input
          id={id}
          type="datetime-local"
          name={field.path}
          required={isRequired}
          aria-invalid={error !== undefined}
          aria-describedby={describedBy}
          value={text === "" ? "" : localText(new Date(text))}
          onChange={({ target }) =>
            set(target.value === "" ? "" : new Date(target.value).toISOString())
          }
        />
      )}
    </Labelled>
  );
}

function File({ field, isRequired, error, set }: ControlProps) {
  return (
    <Labelled word={wordOf(field)} {...{ isRequired, error }}>
      {({ id, describedBy }) => (
        <input
          id={id}
          type="file"
          name={field.path}
          required={isRequired}
          aria-describedby={describedBy}
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file === undefined) return set("");
            return void file
              .arrayBuffer()
              .then((bytes) => set(base64Encode(new Uint8Array(bytes))));
          }}
        />
      )}
    </Labelled>
  );
}
