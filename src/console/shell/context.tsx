import { lazy, Suspense, useState } from "react";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { textAt } from "../declared/declare.ts";
import { useAnswer } from "../json-calls.ts";
import { useRights } from "../rights.ts";
import { t } from "../page-data.ts";
import style from "./shell.module.css";

// Loaded when somebody first goes elsewhere.
const Organizations = lazy(async () => ({
  default: (await import("./organizations.tsx")).Organizations,
}));

/** Where the reader works, and the way to another organization where there is more than one for them. */
export function Context({ org }: { org: string | undefined }) {
  const { may, organizations, organizationNames } = useRights();
  const [isOpen, setOpen] = useState(false);
  const isReadable =
    org !== undefined && may(OrganizationService.method.getOrganization, { organizationId: org });
  const { data } = useAnswer(
    OrganizationService.method.getOrganization,
    isReadable ? { id: org } : undefined,
  );
  const all = t(organizations.length === 0 ? "everything" : "allOrganizations");
  const name =
    org === undefined
      ? all
      : textAt(data, "organization.organization.name") || organizationNames.get(org) || org;
  if (organizations.length === 1) return <span className={style["context"]}>{name}</span>;
  return (
    <>
      <button
        type="button"
        className={style["switch"]}
        aria-label={`${t("context")}: ${name}`}
        onClick={() => setOpen(true)}
      >
        <span>{name}</span>
      </button>
      {isOpen && (
        <Suspense>
          <Organizations {...{ all, org }} close={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
