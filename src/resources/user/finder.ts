import type { UserDeps } from "./ports.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { equals } from "../../projection/rows.ts";
import { eq, sql } from "../../storage/drizzle.ts";
import { select } from "../../storage/selection.ts";
import { type Finder, finder } from "../object/finder.ts";
import { userAuthenticators } from "./authenticator/projection.ts";
import { users } from "./projection.ts";
import { type UserRow, visibleUsers } from "./queries.ts";
import { readableDataOf } from "./readable.ts";
import { displayNameOf } from "./user-data.ts";

/** A user as a search over everything shows them. */
export type UserFound = { email: string } & Pick<
  UserRow,
  "id" | "displayName" | "username" | "schemaType" | "organizationId"
>;

/**
 * Finds users by ID, external ID, client ID, phone number, name, username and e-mail address. By a name that their schema hides from the caller
 * nobody is found.
 */
export function userFinder({
  db,
  tenancy,
  userSchemas,
}: Pick<UserDeps, "db" | "tenancy" | "userSchemas">): Finder<UserFound> {
  const t = db.table(users);
  const a = db.table(userAuthenticators);
  // The instance is a value here and no column of users: PostgreSQL would run the subquery for each of their rows.
  const hasClientId = (instanceId: string, clientId: string) => {
    const ofSecret = { instanceId, kind: "secret", lookup: clientId } as const;
    const where = equals(db, userAuthenticators, ofSecret);
    return sql`${t.id} in (${select(sql`${a.userId}`, { from: a, where })})`;
  };
  // The index is of the fold.
  const hasExternalId = (externalId: string) =>
    sql`${eq(t.externalIdFolded, caseFold(externalId))} and ${eq(t.externalId, externalId)}`;
  const readable = readableDataOf({ userSchemas });
  const find = finder(db, users, {
    keys: (text, instanceId) => [
      eq(t.id, text),
      eq(t.phone, text),
      hasExternalId(text),
      hasClientId(instanceId, text),
    ],
    names: [[t.usernameFolded, t.organizationId], [t.emailFolded], [t.displayNameFolded]],
    visible: visibleUsers({ db, tenancy }),
  });
  return async (scope, asked) => {
    const rows = await find(scope, asked);
    const shown = rows.map(async (row) => {
      const displayName = displayNameOf(await readable({ ...scope, policy: asked.policy }, row));
      const { id, username, schemaType, organizationId } = row;
      const isHidden = displayName !== row.displayName && isByName(row, asked.text);
      return isHidden
        ? []
        : [{ id, displayName, username, email: row.email ?? "", schemaType, organizationId }];
    });
    return (await Promise.all(shown)).flat();
  };
}

/** Whether it is by the name that is shown, and by nothing else, that the text finds a user. */
function isByName(row: UserRow, text: string): boolean {
  const folded = caseFold(text);
  const begins = (name: string | null) => name?.startsWith(folded) === true;
  return begins(row.displayNameFolded) && !begins(row.usernameFolded) && !begins(row.emailFolded);
}
