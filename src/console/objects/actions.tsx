import type { JsonObject } from "@bufbuild/protobuf";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { type Action, textAt } from "../declared/declare.ts";
import type { Subject } from "../forms/request.ts";
import { keepOrg } from "../parts/keep-org.ts";
import { type Place, useRights } from "../rights.ts";
import type { PageSearch } from "../routes.ts";
import { t } from "../told.ts";
import { notify } from "./notice.ts";
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
  place,
  reload,
}: {
  actions: readonly Action[];
  subject: Pick<Subject, "object" | "page">;
  name: string;
  place?: Place | undefined;
  reload?: () => Promise<JsonObject | undefined>;
}) {
  const { may } = useRights();
  const [open, setOpen] = useState<Action>();
  const navigate = useNavigate();
  const { org }: PageSearch = useSearch({ strict: false });
  const client = useQueryClient();
  const shown = actions.filter(
    ({ method, asFor = method, when, permission }) =>
      may(asFor, place, permission) && (when === undefined || when(subject.object)),
  );
  async function done(answer: JsonObject, { leadsTo, word }: Action): Promise<void> {
    setOpen(undefined);
    notify(`${t("done")}: ${t(word)}`);
    if (leadsTo !== undefined) {
      await navigate({
        to: leadsTo,
        params: { id: textAt(answer, "details.id") },
        search: keepOrg,
      });
    }
    // Whatever is shown may follow from what was done.
    await client.invalidateQueries();
  }
  if (shown.length === 0) return null;
  return (
    <div className={style["actions"]}>
      {shown.map((action) => (
        <button
          key={action.word}
          type="button"
          aria-label={name === "" ? undefined : `${t(action.word)}: ${name}`}
          className={style["action"]}
          onClick={() => setOpen(action)}
        >
          {t(action.word)}
        </button>
      ))}
      {open !== undefined && (
        <Suspense>
          <ActionDialog
            action={open}
            subject={{ ...subject, answer: {}, org }}
            name={name}
            {...(reload && { reload })}
            done={(answer, action) => void done(answer, action)}
            close={() => setOpen(undefined)}
          />
        </Suspense>
      )}
    </div>
  );
}
