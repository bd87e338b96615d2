import { Dialog } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import { useId } from "react";
import type { Found } from "../ports.ts";
import { useFound } from "../objects/found.ts";
import { useChoice } from "../parts/choice.ts";
import { t } from "../page-data.ts";
import type { PageRoute } from "../routes.ts";
import style from "./shell.module.css";

/** They are in no area. */
const firstSteps = { page: { word: "firstSteps", path: "/first-steps" }, search: {} };

type Hit = { key: string; kind: string; name: string; more: string; go: () => Promise<void> };

type Asked = {
  /** The ID of the field. */
  box: string;
  typed: string;
  setTyped: (typed: string) => void;
  pages: readonly { page: PageRoute; search: object }[];
  org: string | undefined;
};

/** One box for everything: objects that the text names, and the areas whose name it begins. */
export function Search({ onClose, ...asked }: Asked & { onClose: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={style["backdrop"] ?? ""} />
        <Dialog.Popup className={style["search"] ?? ""}>
          <Dialog.Title className={style["hidden"] ?? ""}>{t("search")}</Dialog.Title>
          <Box {...asked} close={onClose} />
          <Dialog.Close className={style["close"] ?? ""}>{t("close")}</Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** What stands below the hits: what is missing, or that something went wrong. */
const hintOf = (isEnough: boolean, error: unknown, isNothing: boolean): string => {
  if (error !== null) return t("failed");
  if (!isEnough) return t("searchHint");
  return isNothing ? t("searchNone") : "";
};

/**
 * What the text names: pages whose name it begins, at once, and objects, once they are found; until then those of an older text.
 *
 * @returns `isAnswered` says whether the objects are those of this text
 */
function useHits({ typed: q, pages, org }: Pick<Asked, "typed" | "pages" | "org">) {
  const navigate = useNavigate();
  const { found, error, isEnough, isAnswered } = useFound(q);
  const search = org === undefined ? {} : { org };
  const commands: Hit[] = [...pages, firstSteps]
    .filter(({ page }) => t(page.word).toLowerCase().startsWith(q.toLowerCase()))
    .map(({ page: { word, path }, search: within }) => ({
      key: path,
      kind: t("goTo"),
      name: t(word),
      more: "",
      go: () => navigate({ to: path, search: within }),
    }));
  const objects =
    found === undefined ? [] : hitsOf(found, (to, id) => navigate({ to, params: { id }, search }));
  const isNothing = isAnswered && commands.length + objects.length === 0;
  return { commands, objects, isAnswered, hint: hintOf(isEnough, error, isNothing) };
}

function Box({ box, typed: q, setTyped: setQ, pages, org, close }: Asked & { close: () => void }) {
  const list = useId();
  const { commands, objects, isAnswered, hint } = useHits({ typed: q, pages, org });
  const hits = [...commands, ...objects];
  const choose = (hit: Hit) => {
    close();
    void hit.go();
  };
  const { current, reset, onKeyDown } = useChoice(hits, {
    keyOf: ({ key }) => key,
    isCurrent: isAnswered || commands.length > 0,
    choose,
  });
  return (
    <>
      <input
        autoFocus
        id={box}
        className={style["query"]}
        type="text"
        role="combobox"
        aria-label={t("search")}
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={hits.length === 0 ? undefined : `${list}-${current}`}
        autoComplete="off"
        maxLength={200}
        value={q}
        onChange={({ target }) => {
          setQ(target.value);
          reset();
        }}
        onKeyDown={onKeyDown}
      />
      <Hits id={list} hits={hits} current={current} choose={choose} />
      <p role="status" className={style["hint"]}>
        {hint}
      </p>
    </>
  );
}

function Hits({
  id,
  hits,
  current,
  choose,
}: {
  id: string;
  hits: readonly Hit[];
  current: number;
  choose: (hit: Hit) => void;
}) {
  return (
    <ul id={id} role="listbox" aria-label={t("search")} className={style["hits"]}>
      {hits.map((hit, place) => (
        <li
          key={hit.key}
          id={`${id}-${place}`}
          role="option"
          aria-selected={place === current}
          onClick={() => choose(hit)}
        >
          <span className={style["kind"]}>{hit.kind}</span>
          <span>{hit.name}</span>
          <span className={style["more"]}>{hit.more}</span>
        </li>
      ))}
    </ul>
  );
}

type Go = (to: string, id: string) => Promise<void>;

function hitsOf({ users, organizations, projects, apps }: Found, go: Go): Hit[] {
  return [
    ...users.map(({ id, displayName, username, email }) => ({
      key: `user ${id}`,
      kind: t("people"),
      name: displayName || username,
      more: email || username,
      go: () => go("/people/$id", id),
    })),
    ...organizations.map(({ id, name }) => ({
      key: `org ${id}`,
      kind: t("organizations"),
      name,
      more: id,
      go: () => go("/organizations/$id", id),
    })),
    ...projects.map(({ id, name }) => ({
      key: `project ${id}`,
      kind: t("projects"),
      name,
      more: id,
      go: () => go("/projects/$id", id),
    })),
    ...apps.map(({ id, name, clientId }) => ({
      key: `app ${id}`,
      kind: t("applications"),
      name,
      more: clientId,
      go: () => go("/applications/$id", id),
    })),
  ];
}
