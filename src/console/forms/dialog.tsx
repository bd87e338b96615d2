import { Dialog } from "@base-ui/react/dialog";
import type { JsonObject } from "@bufbuild/protobuf";
import { useQueryClient } from "@tanstack/react-query";
import { lazy, type SubmitEvent, Suspense, useEffect, useRef, useState } from "react";
import { messageOf, refusalOf, type Refusal } from "../calls.ts";
import type { Action } from "../declared/declare.ts";
import { nameIn } from "../declared/schema.ts";
import { callByJson } from "../json-calls.ts";
import { refresh } from "../objects/refresh.ts";
import { Waiting } from "../parts/waiting.tsx";
import { useRights } from "../rights.ts";
import { t } from "../page-data.ts";
import { useWhenBack } from "./again.ts";
import { ActionCode } from "./code.tsx";
import { About, Buttons, Concerns } from "./question.tsx";
import { Conflict } from "./conflict.tsx";
import { Fields } from "./form.tsx";
import style from "./forms.module.css";
import { Answer, hasMore } from "./answer.tsx";
import { RefusedCall } from "./refused.tsx";
import { fieldsOf, requestOf, type Subject, type Typed } from "./request.ts";

// Loaded with the first form that is filled in for many.
const Pasted = lazy(async () => ({ default: (await import("./pasted.tsx")).Pasted }));
// Loaded with the first form that has a preview.
const Preview = lazy(async () => ({ default: (await import("../parts/preview.tsx")).Preview }));

export type Ask = {
  action: Action;
  subject: Subject;
  /** What the object is called. */
  name: string;
  /** Reads the object anew: what it is now. */
  reload?: () => Promise<JsonObject | undefined>;
  done: (answer: JsonObject, action: Action) => void;
  close: () => void;
};

const controls = "input, select, textarea, button";

/** A dialog in which an action is filled in or confirmed, sent, and what it answers is shown. */
export function ActionDialog(ask: Ask) {
  const [step, setStep] = useState({ action: ask.action, subject: ask.subject });
  const [shown, setShown] = useState<JsonObject>();
  const client = useQueryClient();
  const popup = useRef<HTMLDivElement>(null);
  const { action, subject } = step;
  const isFollowing = action !== ask.action;
  // What had the focus is gone with the step before; the library gives it to the dialog in the frame that comes.
  useEffect(() => {
    if (!isFollowing) return;
    const frame = requestAnimationFrame(() =>
      popup.current?.querySelector<HTMLElement>(controls)?.focus(),
    );
    return () => cancelAnimationFrame(frame);
  }, [action, isFollowing]);
  const leave = () => {
    if (shown !== undefined) ask.done(shown, action);
    ask.close();
  };
  const next = (answer: JsonObject) => {
    if (action.next === undefined) return ask.done(answer, action);
    setShown(undefined);
    setStep({ action: action.next, subject: { ...subject, answer } });
  };
  const answered = (answer: JsonObject) => {
    const isMore = hasMore(action, answer);
    // What is shown below may follow from what was done. Where that is all, it is read anew when the reader has been led on.
    if (isMore || action.next !== undefined) void refresh(client);
    if (isMore) setShown(answer);
    else next(answer);
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && leave()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={style["backdrop"] ?? ""} />
        <Dialog.Popup ref={popup} className={style["dialog"] ?? ""}>
          <Dialog.Title className={style["title"] ?? ""}>{t(action.word)}</Dialog.Title>
          {ask.name !== "" && <p className={style["of"]}>{ask.name}</p>}
          {action.pasted !== undefined ? (
            <Suspense fallback={<Waiting />}>
              <Pasted {...{ action, subject, field: action.pasted.field }} close={ask.close} />
            </Suspense>
          ) : shown === undefined ? (
            <Asked key={action.method.name} {...ask} {...step} answered={answered} />
          ) : (
            <Answer action={action} answer={shown} goOn={() => next(shown)} />
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Violations of fields at their fields, all of each, and what is taken at the one that it names; what has none stands above all. */
function errorsOf(refusal: Refusal | undefined, action: Action, typed: Typed): Map<string, string> {
  const errors = new Map<string, string>();
  if (refusal === undefined) return errors;
  const fields = fieldsOf(action, typed);
  for (const { field, description } of refusal.violations) {
    const at = fields.find(
      ({ path }) =>
        field === path ||
        field.startsWith(`${path}.`) ||
        field.startsWith(`${path}[`) ||
        path.startsWith(`${field}.`),
    );
    if (at === undefined) continue;
    const others = errors.get(at.path);
    errors.set(at.path, others === undefined ? description : `${others}; ${description}`);
  }
  const [, taken] = /^(\w+)_TAKEN$/.exec(refusal.reason) ?? [];
  const named = fields.find(({ path }) => `_${taken?.toLowerCase()}`.endsWith(`_${nameIn(path)}`));
  if (named !== undefined) errors.set(named.path, messageOf(refusal));
  return errors;
}

function Asked({
  action,
  subject: begun,
  name,
  reload,
  close,
  answered,
}: Ask & { answered: (answer: JsonObject) => void }) {
  const [typed, setTyped] = useState<Typed>({ values: {}, ways: {} });
  const [subject, setSubject] = useState(begun);
  const [error, setError] = useState<unknown>();
  const [changed, setChanged] = useState<JsonObject>();
  const [isSending, setSending] = useState(false);
  const { me } = useRights();

  async function send(to: Subject): Promise<void> {
    setSending(true);
    setError(undefined);
    try {
      const answer = await callByJson(action.method, requestOf(action, to, typed));
      answered(answer);
    } catch (refused) {
      const isConflict = refusalOf(refused).reason === "SEQUENCE_MISMATCH";
      const now = isConflict ? await reload?.().catch(() => undefined) : undefined;
      setChanged(now);
      setError(refused);
    } finally {
      setSending(false);
    }
  }
  const { wait } = useWhenBack(me.userId, () => void send(subject));
  const overwrite = (now: JsonObject) => {
    const to = { ...subject, object: now };
    setSubject(to);
    setChanged(undefined);
    void send(to);
  };
  const refusal = error === undefined ? undefined : refusalOf(error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void send(subject);
  };
  return (
    <form className={style["form"]} onSubmit={submit}>
      <About action={action} name={name} />
      {action.concerns !== undefined && <Concerns concerns={action.concerns} />}
      <Fields
        {...{ action, subject, typed }}
        errors={errorsOf(refusal, action, typed)}
        onChange={setTyped}
      />
      {changed === undefined ? (
        refusal !== undefined && <RefusedCall refusal={refusal} beside={wait} />
      ) : (
        <Conflict
          {...{ action, typed, now: changed }}
          before={subject.object}
          overwrite={overwrite}
        />
      )}
      {action.preview !== undefined && (
        <Suspense>
          <Preview org={subject.org} typed={action.preview(requestOf(action, subject, typed))} />
        </Suspense>
      )}
      <ActionCode {...{ action, subject, typed }} />
      <Buttons {...{ close, isSending }} isDangerous={action.isDangerous === true}>
        {t(action.send ?? (action.isChange === true ? "save" : action.word))}
      </Buttons>
    </form>
  );
}
