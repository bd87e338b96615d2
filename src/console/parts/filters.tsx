import { useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { textAt } from "../declared/declare.ts";
import { supportedLanguages } from "../declared/languages.ts";
import { objectsAt } from "../declared/schema.ts";
import { useAnswer } from "../json-calls.ts";
import type { PageSearch } from "../routes.ts";
import { languageText, t } from "../page-data.ts";
import style from "./parts.module.css";

/** Puts a value into the address, or takes it out where it is empty. */
export function useInAddress(): (name: keyof PageSearch, value: string) => void {
  const navigate = useNavigate();
  return useCallback(
    (name, value) => {
      const search = (before: object) => {
        const { [name]: _, ...rest } = before as PageSearch;
        return value === "" ? rest : { ...rest, [name]: value };
      };
      void navigate({ to: ".", search, replace: true });
    },
    [navigate],
  );
}

const quietMs = 250;

/** A filter by how names begin, or by what they contain: what was typed is in the address a moment later. */
export function Filter({ q, label }: { q: string; label: string }) {
  const put = useInAddress();
  const [typed, setTyped] = useState(q);
  // What was typed and is on its way to the address. Any other text there is from somewhere else, such as a link to the whole list.
  const sent = useRef<string[]>([]);
  useEffect(() => {
    const at = sent.current.indexOf(q);
    sent.current = at === -1 ? [] : sent.current.slice(at + 1);
    if (at === -1) setTyped(q);
  }, [q]);
  useEffect(() => {
    if (typed === (sent.current.at(-1) ?? q)) return;
    const waiting = setTimeout(() => {
      sent.current.push(typed);
      put("q", typed);
    }, quietMs);
    return () => clearTimeout(waiting);
  }, [typed, q, put]);
  return (
    <label className={style["filter"]}>
      <span>{label}</span>
      <input
        type="search"
        value={typed}
        maxLength={200}
        autoComplete="off"
        onChange={({ target }) => setTyped(target.value)}
      />
    </label>
  );
}

/** A filter by one of some values. */
export function ChoiceFilter({
  name,
  word,
  chosen,
  options,
}: {
  name: keyof PageSearch;
  word: string;
  chosen: string;
  options: readonly (readonly [value: string, text: string])[];
}) {
  const put = useInAddress();
  return (
    <label className={style["filter"]}>
      <span>{t(word)}</span>
      <select value={chosen} onChange={({ target }) => put(name, target.value)}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A choice of the languages that there are. */
export function LanguageFilter({ chosen }: { chosen: string }) {
  const { data } = useAnswer(supportedLanguages.method, {});
  const found = objectsAt(data ?? {}, supportedLanguages.rows);
  const codes = found.map((each) => textAt(each, supportedLanguages.value));
  return (
    <ChoiceFilter
      {...{ name: "language", word: "field_preferred_language", chosen }}
      options={(codes.length === 0 ? [chosen] : codes).map((code) => [code, languageText(code)])}
    />
  );
}
