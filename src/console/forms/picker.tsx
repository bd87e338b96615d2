import { useEffect, useId, useState } from "react";
import type { Field, Picked } from "../declared/declare.ts";
import type { Found as FoundByText } from "../ports.ts";
import { useFirst, useNames } from "../objects/names.ts";
import { useFound } from "../objects/found.ts";
import { wordOf } from "../objects/value.tsx";
import { useChoice } from "../parts/choice.ts";
import { t } from "../page-data.ts";
import type { ControlProps } from "./controls.tsx";
import style from "./forms.module.css";
import { Labelled } from "./labelled.tsx";

type Found = { id: string; name: string; more: string };

const named = (id: string, name: string, more: string): Found => ({
  id,
  name: name || more,
  more,
});

const foundIn: Readonly<Record<Picked, (found: FoundByText) => Found[]>> = {
  person: ({ users }) =>
    users.map(({ id, displayName, username }) => named(id, displayName, username)),
  organization: ({ organizations }) => organizations.map(({ id, name }) => named(id, name, id)),
  project: ({ projects }) => projects.map(({ id, name }) => named(id, name, id)),
  application: ({ apps }) => apps.map(({ id, name, clientId }) => named(id, name, clientId)),
};

/** Chooses the organization to make something in where there is one alone. */
function useOnly({ path }: Field, first: readonly Found[], set: ControlProps["set"]): void {
  const [only, ...others] = first;
  const chosen = path === "ctx.org_id" && others.length === 0 ? only?.id : undefined;
  useEffect(() => {
    if (chosen !== undefined) set(chosen);
  });
}

/** Finds an object by what names it; what is sent is its ID. */
export function Picker({
  field,
  value,
  isRequired,
  error,
  set,
  kind,
}: Pick<ControlProps, "field" | "value" | "isRequired" | "error" | "set"> & { kind: Picked }) {
  const id = typeof value === "string" ? value : "";
  const names = useNames([{ id }], [{ path: "id", as: kind }]);
  const [q, setQ] = useState<string>();
  const list = useId();
  const { found: byText, isEnough: isOpen, isAnswered } = useFound(q ?? "", { staleTime: 0 });
  const [isFocused, setFocused] = useState(false);
  const isEmpty = isFocused && !isOpen && id === "" && (q ?? "") === "";
  const first = useFirst(kind, isEmpty);
  const found = isEmpty ? first : byText === undefined ? [] : foundIn[kind](byText);
  useOnly(field, isEmpty && q === undefined ? first : [], set);
  const isNothing = isAnswered && byText !== undefined && found.length === 0;
  const choose = (chosen: Found) => {
    set(chosen.id);
    setQ(undefined);
  };
  const { current, reset, leave, onKeyDown } = useChoice(found, {
    keyOf: (each) => each.id,
    isCurrent: isAnswered,
    choose,
  });
  return (
    <Labelled
      word={wordOf(field)}
      hint={isNothing ? t("pickedByID") : undefined}
      {...{ isRequired, error }}
    >
      {({ id: control, describedBy }) => (
        <div className={style["picker"]}>
          <input
            id={control}
            type="text"
            role="combobox"
            name={field.path}
            required={isRequired}
            autoComplete="off"
            maxLength={200}
            aria-expanded={found.length > 0}
            aria-controls={list}
            aria-activedescendant={found.length > 0 ? `${list}-${current}` : undefined}
            aria-describedby={describedBy}
            title={t("searchHint")}
            onFocus={() => setFocused(true)}
            onBlur={() => {
              setFocused(false);
              const text = (q ?? "").trim();
              if (text === "") return;
              // What was typed and not chosen is the one thing that it finds, else an ID.
              set(text);
              leave();
            }}
            value={q ?? names[kind].get(id)?.name ?? id}
            onChange={({ target }) => {
              setQ(target.value);
              reset();
              if (id !== "") set("");
            }}
            onKeyDown={onKeyDown}
          />
          <FoundList id={list} {...{ found, current, choose }} label={wordOf(field)} />
        </div>
      )}
    </Labelled>
  );
}

function FoundList({
  id,
  label,
  found,
  current,
  choose,
}: {
  id: string;
  label: string;
  found: readonly Found[];
  current: number;
  choose: (chosen: Found) => void;
}) {
  return (
    <ul id={id} role="listbox" aria-label={label} hidden={found.length === 0}>
      {found.map((each, place) => (
        <li
          key={each.id}
          id={`${id}-${place}`}
          role="option"
          aria-selected={place === current}
          onMouseDown={(event) => {
            event.preventDefault();
            choose(each);
          }}
        >
          {each.name} <span className={style["more"]}>{each.more}</span>
        </li>
      ))}
    </ul>
  );
}
