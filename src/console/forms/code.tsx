import type { JsonObject } from "@bufbuild/protobuf";
import { useState } from "react";
import { rules } from "#schema-options";
import type { Action } from "../declared/declare.ts";
import { fieldAt } from "../declared/schema.ts";
import { AsCode } from "../parts/code.tsx";
import { t } from "../page-data.ts";
import style from "./forms.module.css";
import { fieldsOf, requestOf, type Subject, type Typed } from "./request.ts";

/** The change as a call of the API, as it would be sent, but for secrets. */
export function ActionCode(change: { action: Action; subject: Subject; typed: Typed }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className={style["details"]}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{t("code")}</summary>
      {isOpen && <AsCode method={change.action.method} request={hidden(change)} />}
    </details>
  );
}

function hidden({
  action,
  subject,
  typed,
}: {
  action: Action;
  subject: Subject;
  typed: Typed;
}): JsonObject {
  const secret = fieldsOf(action, typed).filter(({ path, as }) => {
    const desc = fieldAt(action.method.input, path);
    const rule = desc && rules[`${desc.parent.typeName}.${desc.name}`];
    return as === "password" || rule?.secret === true;
  });
  const typedSecrets = secret.filter(({ path }) => path in typed.values);
  const values = Object.fromEntries(typedSecrets.map(({ path }) => [path, "********"]));
  return requestOf(action, subject, { ...typed, values: { ...typed.values, ...values } });
}
