import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Action, at } from "../declared/declare.ts";
import { fieldAt } from "../declared/schema.ts";
import { textOf, wordOf } from "../objects/value.tsx";
import { t } from "../page-data.ts";
import style from "./forms.module.css";
import { intoView } from "./refused.tsx";
import { fieldsOf, isSame, shownFrom, type Typed } from "./request.ts";

/** Somebody changed the object meanwhile: what it was, what it is now, and what was typed, which can be sent nevertheless. */
export function Conflict({
  action,
  typed,
  before,
  now,
  overwrite,
}: {
  action: Action;
  typed: Typed;
  before: JsonObject;
  now: JsonObject;
  overwrite: (now: JsonObject) => void;
}) {
  const fields = fieldsOf(action, typed).flatMap((field) => {
    const from = shownFrom(action, field);
    if (from === undefined || isSame(at(before, from), at(now, from))) return [];
    return [{ ...field, from }];
  });
  const words = (path: string, value: JsonValue | undefined) => {
    const isEnum = fieldAt(action.method.input, path)?.enum !== undefined;
    return isEnum && typeof value === "string" ? t(value) : textOf(value);
  };
  return (
    <div ref={intoView} className={style["refused"]} role="alert">
      <h3>{t("conflict")}</h3>
      {fields.length === 0 ? (
        <p>{t("conflictElsewhere")}</p>
      ) : (
        <table className={style["compared"]}>
          <thead>
            <tr>
              <th scope="col">{t("what")}</th>
              <th scope="col">{t("before")}</th>
              <th scope="col">{t("now")}</th>
              <th scope="col">{t("yours")}</th>
            </tr>
          </thead>
          <tbody>
            {fields.map((field) => (
              <tr key={field.path}>
                <th scope="row">{wordOf(field)}</th>
                <td>{words(field.path, at(before, field.from))}</td>
                <td>{words(field.path, at(now, field.from))}</td>
                <td>
                  {field.path in typed.values ? words(field.path, typed.values[field.path]) : ""}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <button type="button" className={style["button"]} onClick={() => overwrite(now)}>
        {t("overwrite")}
      </button>
    </div>
  );
}
