import type { JsonObject } from "@bufbuild/protobuf";
import { lazy, Suspense, useState } from "react";
import { rules } from "#schema-options";
import type { Action } from "../declared/declare.ts";
import { fieldAt } from "../declared/schema.ts";
import { t } from "../page-data.ts";
import style from "./forms.module.css";
import { fieldsOf, requestOf, type Subject, type Typed } from "./request.ts";

// Loaded when somebody wants to see it.
const AsCode = lazy(async () => ({ default: (await import("../parts/code.tsx")).AsCode }));

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
      {isOpen && (
        <Suspense>
          <AsCode method={change.action.method} request={hidden(change)} />
        </Suspense>
      )}
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
