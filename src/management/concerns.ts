import { refusalOfId } from "../authz/chosen-id.ts";
import type { Concern, Deps } from "../projection/module.ts";
import { columnIn, equals } from "../projection/rows.ts";
import { organizations } from "../resources/org/index.ts";
import { projects } from "../resources/project/index.ts";
import { userAuthenticators, users } from "../resources/user/index.ts";
import type { Database } from "../storage/database.ts";
import { type SQL, sql } from "../storage/drizzle.ts";
import type { AnyTable } from "../storage/table.ts";

const mostTold = 20;

/**
 * Ids, client ids and usernames from before there was a rule for what callers choose (J7). What has them keeps them.
 * @param apps the table of apps, with their ids and client ids
 */
export async function idConcerns({ db }: Pick<Deps, "db">, apps: AnyTable): Promise<Concern[]> {
  const idsIn = (of: AnyTable, name = "id", where?: SQL): Promise<Named[]> => {
    const [instanceId, id] = [columnIn(db, of, "instanceId"), columnIn(db, of, name)];
    return db.read
      .select({ instanceId: sql<string>`${instanceId}`, id: sql<string>`${id}` })
      .from(db.table(of))
      .where(where);
  };
  const all: Named[] = [];
  for (const each of [users, organizations, projects.table, apps]) {
    all.push(...(await idsIn(each)));
  }
  const isSecret = equals(db, userAuthenticators, { kind: "secret" });
  const called = [
    ...(await idsIn(apps, "clientId")),
    ...(await idsIn(userAuthenticators, "lookup", isSecret)),
  ];
  const ids = new Set(all.map(nameOf));
  const isOdd = ({ id }: Named) => refusalOfId(id, "", { allDigits: true }) !== undefined;
  const isOurs = ({ id }: Named) => refusalOfId(id, "")?.reason === "ID_RESERVED";
  return [
    {
      name: "ids_that_are_refused",
      text: "users, organizations, projects or apps have ids that cannot be chosen any more, since they look like names of the service or are hard to tell apart: move to others where you can",
      ...listed(all.filter(isOdd)),
    },
    {
      name: "client_ids_that_are_refused",
      text: "apps or machine users have client ids that are names of the service, or ids of something else in the instance: give them others where you can",
      ...listed(called.filter((each) => isOurs(each) || ids.has(nameOf(each)))),
    },
    {
      name: "usernames_that_are_refused",
      text: "users have usernames that begin or end with white space: give them others where you can",
      ...listed(await spacedUsernames(db)),
    },
  ];
}

type Named = { instanceId: string; id: string };

const nameOf = ({ instanceId, id }: Named): string => `${instanceId}/${id}`;

const listed = (found: readonly Named[]) => ({
  count: found.length,
  some: found.slice(0, mostTold).map(nameOf),
});

/** The ids of the users: what they are called is personal. */
async function spacedUsernames(db: Database): Promise<Named[]> {
  const u = db.table(users);
  const rows = await db.read
    .select({ instanceId: u.instanceId, id: u.id, username: u.username })
    .from(u);
  return rows.filter(({ username }) => username.trim() !== username);
}
