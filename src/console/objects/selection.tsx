import { Dialog } from "@base-ui/react/dialog";
import type { JsonObject } from "@bufbuild/protobuf";
import { useState } from "react";
import type { Action } from "../declared/declare.ts";
import { About, Buttons } from "../forms/question.tsx";
import { givenOf } from "../forms/request.ts";
import { Runs } from "../forms/runs.tsx";
import form from "../forms/forms.module.css";
import { callByJson } from "../json-calls.ts";
import { t } from "../told.ts";
import style from "./objects.module.css";

/** What can be done with all rows that are marked: asked once, then done one after the other. */
export function Selection({
  actions,
  rows,
  nameOf,
  end,
}: {
  actions: readonly Action[];
  rows: readonly JsonObject[];
  nameOf: (row: JsonObject) => string;
  end: () => void;
}) {
  const [open, setOpen] = useState<{ action: Action; isSent: boolean }>();
  const names = rows.map(nameOf).join(", ");
  const close = () => {
    setOpen(undefined);
    if (open?.isSent === true) end();
  };
  return (
    <div className={style["actions"]}>
      <p role="status">{`${t("marked")}: ${rows.length}`}</p>
      {actions.map((action) => (
        <button
          key={action.word}
          type="button"
          className={style["action"]}
          onClick={() => setOpen({ action, isSent: false })}
        >
          {`${t(action.word)} (${rows.length})`}
        </button>
      ))}
      {open !== undefined && (
        <Dialog.Root open onOpenChange={(isOpen) => !isOpen && close()}>
          <Dialog.Portal>
            <Dialog.Backdrop className={form["backdrop"] ?? ""} />
            <Dialog.Popup className={form["dialog"] ?? ""}>
              <Dialog.Title className={form["title"] ?? ""}>{t(open.action.word)}</Dialog.Title>
              {open.isSent ? (
                <Runs
                  word={open.action.word}
                  close={close}
                  runs={rows.map((row) => ({
                    label: nameOf(row),
                    call: () =>
                      callByJson(
                        open.action.method,
                        givenOf(open.action.given, { object: row, page: row }),
                      ),
                  }))}
                />
              ) : (
                <form
                  className={form["form"]}
                  onSubmit={(event) => {
                    event.preventDefault();
                    setOpen({ ...open, isSent: true });
                  }}
                >
                  <p className={form["of"]}>{names}</p>
                  <About action={open.action} name={names} />
                  <Buttons close={close} isDangerous>
                    {t(open.action.word)}
                  </Buttons>
                </form>
              )}
            </Dialog.Popup>
          </Dialog.Portal>
        </Dialog.Root>
      )}
    </div>
  );
}
