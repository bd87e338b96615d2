import { Dialog } from "@base-ui/react/dialog";
import type { JsonObject } from "@bufbuild/protobuf";
import { useState } from "react";
import type { Action } from "../declared/declare.ts";
import { About, Buttons } from "../forms/question.tsx";
import { givenOf } from "../forms/request.ts";
import { Runs } from "../forms/runs.tsx";
import form from "../forms/forms.module.css";
import { callByJson } from "../json-calls.ts";
import { t } from "../page-data.ts";
import style from "./objects.module.css";

type Open = { action: Action; isSent: boolean; chosen: readonly JsonObject[] };

/** What can be done with all rows that are marked: asked once, then done one after the other, whatever the list shows meanwhile. */
export function Selection({
  actions,
  rows,
  nameOf,
  acting,
  end,
}: {
  actions: readonly Action[];
  rows: readonly JsonObject[];
  nameOf: (row: JsonObject) => string;
  /** Told whether something is being done: until that is over it has to stay. */
  acting: (isActing: boolean) => void;
  end: () => void;
}) {
  const [open, setOpen] = useState<Open>();
  const close = () => {
    setOpen(undefined);
    acting(false);
    if (open?.isSent === true) end();
  };
  return (
    <div className={style["marked"]}>
      <p role="status">{`${t("marked")}: ${rows.length}`}</p>
      {actions.map((action) => (
        <button
          key={action.word}
          type="button"
          aria-haspopup="dialog"
          className={style["action"]}
          onClick={() => {
            setOpen({ action, isSent: false, chosen: rows });
            acting(true);
          }}
        >
          {`${t(action.word)} (${rows.length})`}
        </button>
      ))}
      {open !== undefined && (
        <Acting {...{ nameOf, close, ...open }} send={() => setOpen({ ...open, isSent: true })} />
      )}
    </div>
  );
}

/** Asks, and then does it to each of the rows that were chosen. */
function Acting({
  action,
  isSent,
  chosen,
  nameOf,
  close,
  send,
}: Open & { nameOf: (row: JsonObject) => string; close: () => void; send: () => void }) {
  const names = chosen.map(nameOf).join(", ");
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={form["backdrop"] ?? ""} />
        <Dialog.Popup className={form["dialog"] ?? ""}>
          <Dialog.Title className={form["title"] ?? ""}>{t(action.word)}</Dialog.Title>
          {isSent ? (
            <Runs
              word={action.word}
              close={close}
              runs={chosen.map((row) => ({
                label: nameOf(row),
                call: () =>
                  callByJson(action.method, givenOf(action.given, { object: row, page: row })),
              }))}
            />
          ) : (
            <form
              className={form["form"]}
              onSubmit={(event) => {
                event.preventDefault();
                send();
              }}
            >
              <p className={form["of"]}>{names}</p>
              <About action={action} name={names} />
              <Buttons close={close} isDangerous>
                {t(action.word)}
              </Buttons>
            </form>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
