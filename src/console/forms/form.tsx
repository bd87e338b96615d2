import type { DescField, JsonValue } from "@bufbuild/protobuf";
import { rules } from "#schema-options";
import {
  type Action,
  at,
  type Choices,
  type Field,
  textAt,
  type Ways,
} from "../declared/declare.ts";
import { isPicked } from "../declared/references.ts";
import { fieldAt } from "../declared/schema.ts";
import { useAnswer } from "../json-calls.ts";
import { languageText, t } from "../page-data.ts";
import { Checks, Control, type ControlProps, type Rule, Select } from "./controls.tsx";
import style from "./forms.module.css";
import { Picker } from "./picker.tsx";
import { initialOf, isWays, type Subject, type Typed } from "./request.ts";

export type FormProps = {
  action: Action;
  subject: Subject;
  typed: Typed;
  errors: ReadonlyMap<string, string>;
  onChange: (typed: Typed) => void;
};

/** The fields of an action: controls by the type that the schema gives each of them. */
export function Fields(props: FormProps) {
  const { action, typed, onChange } = props;
  return (action.fields ?? []).map((each) =>
    isWays(each) ? (
      <WaysField
        key={each.word}
        {...props}
        ways={each}
        chosen={typed.ways[each.word] ?? 0}
        choose={(place) => onChange({ ...typed, ways: { ...typed.ways, [each.word]: place } })}
      />
    ) : (
      <FieldOf key={each.path} {...props} field={each} />
    ),
  );
}

function WaysField({
  ways,
  chosen,
  choose,
  ...props
}: FormProps & { ways: Ways; chosen: number; choose: (place: number) => void }) {
  return (
    <>
      <fieldset className={style["field"]}>
        <legend>{t(ways.word)}</legend>
        {ways.ways.map(({ word }, place) => (
          <label key={word} className={style["check"]}>
            <input
              type="radio"
              name={ways.word}
              checked={place === chosen}
              onChange={() => choose(place)}
            />
            {t(word)}
          </label>
        ))}
      </fieldset>
      {ways.ways[chosen]?.fields?.map((field) => (
        <FieldOf key={field.path} {...props} field={field} />
      ))}
    </>
  );
}

const ruleOf = (desc: DescField | undefined): Rule =>
  (desc && rules[`${desc.parent.typeName}.${desc.name}`]) ?? {};

/** Whether the schema demands a field, and every message that it is in. */
function isDemanded({ method }: Action, path: string): boolean {
  const names = path.split(".");
  return names.every(
    (_, place) => ruleOf(fieldAt(method.input, names.slice(0, place + 1).join("."))).required,
  );
}

function FieldOf({
  action,
  subject,
  typed,
  errors,
  onChange,
  field,
}: FormProps & { field: Field }) {
  const desc = fieldAt(action.method.input, field.path);
  const rule = ruleOf(desc);
  const initial = initialOf(action, field, subject);
  const value = field.path in typed.values ? typed.values[field.path] : initial;
  const isInData = field.path.includes(".data.");
  const isKept = action.isChange === true && rule.filled === true && initial !== undefined;
  const control: ControlProps = {
    field,
    desc,
    value,
    // The rule of free JSON is that of the field around it.
    rule: isInData ? {} : rule,
    isRequired:
      field.isRequired === true || (!isInData && (isKept || isDemanded(action, field.path))),
    error: errors.get(field.path),
    set: (given: JsonValue) =>
      onChange({ ...typed, values: { ...typed.values, [field.path]: given } }),
  };
  if (field.choices !== undefined) {
    return <Chosen {...control} choices={field.choices} subject={subject} typed={typed} />;
  }
  const { as, values } = field;
  if (values !== undefined) {
    const named = Object.entries(values).map(([one, word]) => ({ value: one, label: t(word) }));
    return <Offered {...control} options={named} />;
  }
  return isPicked(as) ? <Picker {...control} kind={as} /> : <Control {...control} />;
}

/** A value, or several, of those that a method answers. */
function Chosen({
  choices,
  subject,
  typed,
  ...control
}: ControlProps & { choices: Choices; subject: Subject; typed: Typed }) {
  const textOf = (path: string) =>
    [typed.values[path], at(subject.object, path), at(subject.page, path)].find(
      (each): each is string => typeof each === "string" && each !== "",
    ) ?? "";
  const { data } = useAnswer(choices.method, choices.request(textOf), { isOffered: true });
  const rows = data === undefined ? [] : at(data, choices.rows);
  const options = (Array.isArray(rows) ? rows : []).map((row) => {
    const value = typeof row === "string" ? row : textAt(row, choices.value ?? "");
    const label = control.field.as === "language" ? languageText(value) : t(value);
    return { value, label: textAt(row, choices.label ?? "") || label };
  });
  const { field, value, error, set } = control;
  const { each } = field;
  /** What is chosen and not offered any more stands there too, so that it can be taken back. */
  const withGone = (chosen: readonly string[]) => {
    const known = new Set(options.map((option) => option.value));
    const gone = data === undefined ? [] : chosen.filter((one) => !known.has(one));
    return [...options, ...gone.map((one) => ({ value: one, label: one }))];
  };
  if (each !== undefined) {
    // What is chosen are messages, of which one field tells them apart.
    const chosen = (Array.isArray(value) ? value : []).map((one) => textAt(one, each));
    const setEach = (given: JsonValue) =>
      set((Array.isArray(given) ? given : []).map((one) => ({ [each]: one })));
    return <Checks {...{ field, error }} options={withGone(chosen)} value={chosen} set={setEach} />;
  }
  const isList = control.desc?.fieldKind === "list";
  const chosen = isList && Array.isArray(value) ? value : [];
  const gone = chosen.filter((one) => typeof one === "string");
  return <Offered {...control} options={isList ? withGone(gone) : options} />;
}

/** One of some values, or several where it is a list. */
function Offered(props: ControlProps & { options: readonly { value: string; label: string }[] }) {
  return props.desc?.fieldKind === "list" ? <Checks {...props} /> : <Select {...props} />;
}
