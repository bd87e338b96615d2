import { Dialog } from "@base-ui/react/dialog";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { begins, present, textAt } from "../declared/declare.ts";
import { objectsAt } from "../declared/schema.ts";
import { useAnswer } from "../json-calls.ts";
import { useRights } from "../rights.ts";
import { t } from "../page-data.ts";
import style from "./shell.module.css";
import { usePage } from "./use-page.ts";

const { searchOrganizations } = OrganizationService.method;
/** Of all that there are; of those that somebody is bound to, as many as a filter may name. */
const most = 20;
const mostBound = 1000;

/** The organizations that the reader may work in, by how their names begin; and all of them together. */
export function Organizations({
  all,
  org,
  close,
}: {
  /** What all of them together are called. */
  all: string;
  org: string | undefined;
  close: () => void;
}) {
  const { may, reach, organizations, organizationNames } = useRights();
  const [q, setQ] = useState("");
  const page = usePage();
  const isBound = organizations.length > 0;
  const { data } = useAnswer(
    searchOrganizations,
    may(searchOrganizations) ? asked(q, organizations) : undefined,
    { isOffered: true },
  );
  const named = objectsAt(data ?? {}, "result").map((each) => ({
    id: textAt(each, "details.id"),
    name: textAt(each, "organization.name"),
  }));
  // Who may not read an organization knows what it is called.
  const others = organizations.filter((id) => !named.some((each) => each.id === id));
  const choices = [
    ...(q === "" ? [{ id: undefined, name: all }] : []),
    ...named,
    ...others.map((id) => ({ id, name: organizationNames.get(id) ?? id })),
  ];
  // The same page where there is one for that organization, never an object of another.
  const pathFor = (id: string | undefined): string => {
    if (page === undefined || page.scope === "instance") return "/";
    const reached = reach(page, id);
    return reached !== undefined && reached.org === id ? page.path : "/";
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={style["backdrop"] ?? ""} />
        <Dialog.Popup className={style["search"] ?? ""}>
          <Dialog.Title className={style["heading"] ?? ""}>{t("context")}</Dialog.Title>
          {!isBound && (
            <input
              autoFocus
              type="search"
              className={style["query"]}
              aria-label={t("filterBegin")}
              placeholder={t("filterBegin")} // HTML’s name for the hint in an empty field
              maxLength={200}
              autoComplete="off"
              value={q}
              onChange={({ target }) => setQ(target.value)}
            />
          )}
          <ul className={style["contexts"]}>
            {choices.map(({ id, name }) => (
              <li key={id ?? ""}>
                <Link
                  to={pathFor(id)}
                  search={id === undefined ? {} : { org: id }}
                  activeProps={{}}
                  activeOptions={{ exact: true }}
                  aria-current={id === org ? "true" : undefined}
                  onClick={() => close()}
                >
                  {name}
                </Link>
              </li>
            ))}
          </ul>
          <p role="status" className={style["hint"]}>
            {data !== undefined && choices.length === 0 ? t("searchNone") : ""}
          </p>
          <Dialog.Close className={style["close"] ?? ""}>{t("close")}</Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

const asked = (q: string, bound: readonly string[]) => ({
  query: { limit: bound.length > 0 ? mostBound : most, asc: true, skip_total: true },
  sorting_column: "ORGANIZATION_FIELD_NAME_NAME",
  filters: present([
    bound.length > 0 && { in_ids: { ids: [...bound] } },
    q !== "" && { name: begins(q) },
  ]),
});
