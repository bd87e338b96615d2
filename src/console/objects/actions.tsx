import type { JsonObject } from "@bufbuild/protobuf";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { type Action, textAt } from "../declared/declare.ts";
import { givenOf, type Subject } from "../forms/request.ts";
import { callByJson } from "../json-calls.ts";
import { keepOrg } from "../parts/keep-org.ts";
import { useOrg, useRights } from "../rights.ts";
import type { Place } from "../rights-of.ts";
import { t } from "../page-data.ts";
import { notify, pageNow } from "./notice.ts";
import { refresh, whenShown } from "./refresh.ts";
import style from "./objects.module.css";

// Loaded when somebody first changes something.
const ActionDialog = lazy(async () => ({
  default: (await import("../forms/dialog.tsx")).ActionDialog,
}));

/** A button for each action that the reader may take with what is there, and its dialog. */
export function Actions({
  actions,
  subject,
  name,
  isNamed = name !== "",
  lead,
  place,
  reload,
}: {
  actions: readonly Action[];
  subject: Pick<Subject, "object" | "page">;
  /** What the object is called. */
  name: string;
  /** Whether buttons say so to screen readers: where there are others of the same name. */
  isNamed?: boolean;
  /** What the buttons are for, which stands above them where there are any. */
  lead?: string | undefined;
  place?: Place | undefined;
  reload?: () => Promise<JsonObject | undefined>;
}) {
  const { may } = useRights();
  const [open, setOpen] = useState<{ action: Action; page: string }>();
  const navigate = useNavigate();
  const org = useOrg();
  const client = useQueryClient();
  const shown = actions.filter(
    ({ method, asFor = method, when, permission }) =>
      may(asFor, place, permission) && (when === undefined || when(subject.object)),
  );
  async function done(answer: JsonObject, action: Action): Promise<void> {
    const { leadsTo, tab, newId = "details.id", word, did = "done", undo } = action;
    setOpen(undefined);
    // On another page by now: the reader is not taken from it, and nothing is said there.
    const isHere = open?.page === pageNow();
    if (isHere && leadsTo !== undefined) {
      await navigate({
        to: leadsTo,
        params: { id: textAt(answer, newId) },
        search: (before: { org?: string }) => ({
          ...keepOrg(before),
          ...(tab === undefined ? {} : { tab }),
        }),
      });
    }
    const undone = () => refresh(client);
    const takeBack =
      undo && (() => callByJson(undo.method, givenOf(undo.given, subject)).then(undone));
    // Where others on the page are called alike, it says of which.
    const of = isNamed ? `: ${name}` : "";
    if (isHere) notify(`${t(did)}: ${t(word)}${of}`, takeBack);
    // Whatever is shown may follow from what was done.
    await refresh(client);
  }
  // Whoever is filling in a form goes on, though others changed what it is about.
  if (shown.length === 0 && open === undefined) return null;
  return (
    <>
      {lead !== undefined && <p className={style["lead"]}>{lead}</p>}
      <div className={style["actions"]}>
        {shown.map((action) => (
          <button
            key={action.word}
            type="button"
            aria-haspopup="dialog"
            aria-label={isNamed ? `${t(action.word)}: ${name}` : undefined}
            className={style["action"]}
            onClick={() => void whenShown((page) => setOpen({ action, page }))}
          >
            {t(action.word)}
          </button>
        ))}
        {open !== undefined && (
          <Suspense>
            <ActionDialog
              action={open.action}
              subject={{ ...subject, answer: {}, org }}
              name={name}
              {...(reload && { reload })}
              done={(answer, action) => void done(answer, action)}
              close={() => setOpen(undefined)}
            />
          </Suspense>
        )}
      </div>
    </>
  );
}
