import type { JsonObject } from "@bufbuild/protobuf";
import { useQueries } from "@tanstack/react-query";
import {
  type Act,
  actsOn,
  contextsAbove,
  membersMethod,
  rolesGiving,
  rolesMethod,
} from "../declared/access.ts";
import { at, type Kind, textAt } from "../declared/declare.ts";
import { answerOf, usePages } from "../json-calls.ts";
import { List } from "../parts/list.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useRights } from "../rights.ts";
import type { Place } from "../rights-of.ts";
import { t } from "../page-data.ts";
import { useNames } from "./names.ts";
import style from "./objects.module.css";
import { valueOf } from "./value.tsx";

const person = { path: "membership.user_id", as: "person" } as const;
const held = { path: "membership.roles", as: "code" } as const;
const permission = { path: "permission", as: "code" } as const;
const roles = { path: "roles", as: "code" } as const;
const pageSize = 25;

type ByRole = Act & { roles: string[] };

/** Who may do what with an object: which roles let one do it, and who holds them where no other list of the page says so. */
export function Access({ kind, object, place }: { kind: Kind; object: JsonObject; place: Place }) {
  const { me, may, permissionOf } = useRights();
  const names = useNames([], []);
  const above = contextsAbove(kind, place, { may, instanceId: me.instanceId });
  const answers = useQueries({ queries: above.map((each) => answerOf(rolesMethod, each.roles)) });
  const failed = answers.find(({ error }) => error !== null);
  if (failed !== undefined) {
    return <Problem error={failed.error} retry={() => void failed.refetch()} title="h2" />;
  }
  const given = answers.map(({ data }) => data).filter((data) => data !== undefined);
  if (given.length < above.length) return <Waiting />;
  const acts: ByRole[] = actsOn(kind, object, { place, permissionOf }).map((act) => ({
    ...act,
    roles: given.flatMap((answer) => rolesGiving(answer, act.permission, place)),
  }));
  const whole = { error: null, hasMore: false, isFetchingMore: false, more() {}, retry() {} };
  return (
    <>
      <section className={style["rows"]}>
        <h2>{t("accessByRole")}</h2>
        <p className={style["lead"]}>{t("accessLead")}</p>
        <List
          label={t("accessByRole")}
          pages={{ ...whole, rows: acts }}
          keyOf={(act) => act.permission}
          columns={[
            { title: t("what"), isMain: true, show: saidOf },
            { title: t("roles"), show: (act) => valueOf(undefined, act, roles, names) },
            {
              title: t("field_permissions"),
              show: (act) => valueOf(undefined, act, permission, names),
            },
          ]}
        />
      </section>
      {above.map(
        ({ context, members }) =>
          members !== undefined && (
            <section key={context} className={style["rows"]}>
              <h2>{t(`administratorsOf_${context}`)}</h2>
              <Holders {...{ acts, members }} label={t(`administratorsOf_${context}`)} />
            </section>
          ),
      )}
    </>
  );
}

const saidOf = ({ words }: Act): string => words.map((word) => t(word)).join(", ");

/** Those who hold roles in a context, and what each of them may do with the object. */
function Holders({
  label,
  members,
  acts,
}: {
  label: string;
  members: JsonObject;
  acts: readonly ByRole[];
}) {
  const pages = usePages(membersMethod, members, { pageSize });
  const names = useNames(pages.rows ?? [], [person]);
  const mayDo = (row: JsonObject): string => {
    const has = at(row, held.path);
    const counts = Array.isArray(has) && row["accepted"] === true ? has : [];
    const done = acts.filter((act) => act.roles.some((role) => counts.includes(role)));
    return done.map(saidOf).join(", ") || t("none");
  };
  return (
    <List
      label={label}
      pages={pages}
      keyOf={(row) => textAt(row, "details.id")}
      columns={[
        {
          title: t("field_user"),
          isMain: true,
          show: (row) => valueOf(undefined, row, person, names),
        },
        { title: t("field_roles"), show: (row) => valueOf(undefined, row, held, names) },
        { title: t("mayDo"), show: mayDo },
      ]}
    />
  );
}
