import { Code, ConnectError } from "@connectrpc/connect";
import { type SubmitEvent, useState } from "react";
import { servicePort } from "../declared/service-port.ts";
import type { Action } from "../declared/declare.ts";
import { callByJson } from "../json-calls.ts";
import { t } from "../page-data.ts";
import { Labelled } from "./labelled.tsx";
import { Fields } from "./form.tsx";
import style from "./forms.module.css";
import { Buttons } from "./question.tsx";
import { put, requestOf, type Subject, type Typed } from "./request.ts";
import { Runs } from "./runs.tsx";

/** The first cell of each line; a line that is pasted twice counts once. */
const cellsOf = (text: string): string[] => [
  ...new Set(
    text.split("\n").flatMap((line) => {
      const [, quoted, plain = ""] = /^\s*(?:"([^"]*)"|([^,;\t]*))/.exec(line) ?? [];
      return (quoted ?? plain).trim() || [];
    }),
  ),
];

/** The one person whom a text names: by ID, username or address. */
async function personOf(given: string): Promise<string> {
  const { users } = await servicePort.find(given);
  const found = users.filter(({ id, username, email }) =>
    [id, username, email].some((each) => each.toLowerCase() === given.toLowerCase()),
  );
  const [one] = found;
  if (one === undefined || found.length > 1) {
    const text = t(one === undefined ? "searchNone" : "pastedSeveral");
    throw new ConnectError(text, Code.InvalidArgument);
  }
  return one.id;
}

/** An action for many people, who are pasted a line each: a list of addresses, or the first column of a table. */
export function Pasted({
  action,
  field,
  subject,
  close,
}: {
  action: Action;
  field: string;
  subject: Subject;
  close: () => void;
}) {
  const [typed, setTyped] = useState<Typed>({ values: {}, ways: {} });
  const [text, setText] = useState("");
  const [isSent, setSent] = useState(false);
  const cells = cellsOf(text);
  if (isSent) {
    const runs = cells.map((label) => ({
      label,
      async call() {
        const request = requestOf(action, subject, typed);
        put(request, field, await personOf(label));
        await callByJson(action.method, request);
      },
    }));
    const again = (labels: readonly string[]) => {
      setText(labels.join("\n"));
      setSent(false);
    };
    return <Runs word={action.word} {...{ runs, close, again }} />;
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setSent(true);
  };
  return (
    <form className={style["form"]} onSubmit={submit}>
      <Labelled word={t("pastedPeople")} isRequired error={undefined} hint={t("pastedHint")}>
        {({ id, describedBy }) => (
          <textarea
            id={id}
            rows={8}
            required
            aria-describedby={describedBy}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
      </Labelled>
      <Fields {...{ action, subject, typed }} errors={new Map()} onChange={setTyped} />
      <Buttons close={close} isDangerous={false}>
        {`${t(action.word)} (${cells.length})`}
      </Buttons>
    </form>
  );
}
