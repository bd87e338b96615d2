import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { and, eq, inArray } from "../../storage/drizzle.ts";
import { cachedRead, current } from "../../storage/read-cache.ts";
import { verifiedDomains } from "../org/index.ts";
import { users } from "./projection.ts";

/** The id of the user who logs in by a name; undefined where nobody does. */
export type LoginNameReader = (
  instanceId: string,
  loginName: string,
) => Promise<string | undefined>;

/** A login name is `<username>@<verified domain>`, split at its last `@`; letter case does not matter (decisions C4). */
export function loginNameReader({
  db,
  organizations,
}: Pick<Deps, "db" | "organizations">): LoginNameReader {
  const t = db.table(users);
  return async (instanceId, loginName) => {
    const at = loginName.lastIndexOf("@");
    if (at === -1) return undefined;
    const domain = loginName.slice(at + 1).toLowerCase();
    const organization = await organizations.byDomain(instanceId, domain);
    if (organization === undefined) return undefined;
    const [row] = await db.read
      .select({ id: t.id })
      .from(t)
      .where(
        and(
          eq(t.instanceId, instanceId),
          eq(t.organizationId, organization.id),
          eq(t.usernameFolded, caseFold(loginName.slice(0, at))),
        ),
      );
    return row?.id;
  };
}

/**
 * The id of the one user with this verified e-mail address, or this verified phone number, in an organization or in the
 * whole instance. Undefined where nobody has it, and where several have.
 */
export function verifiedContactReader(db: Database) {
  const t = db.table(users);
  return async (
    instanceId: string,
    contact: string,
    organizationId: string | undefined,
  ): Promise<string | undefined> => {
    const isNumber = /^\+[0-9 ]+$/.test(contact);
    const rows = await db.read
      .select({ id: t.id })
      .from(t)
      .where(
        and(
          eq(t.instanceId, instanceId),
          isNumber
            ? and(eq(t.phone, contact.replaceAll(" ", "")), eq(t.isPhoneVerified, true))
            : and(eq(t.emailFolded, caseFold(contact)), eq(t.isEmailVerified, true)),
          organizationId === undefined ? undefined : eq(t.organizationId, organizationId),
        ),
      )
      .limit(2);
    return rows.length === 1 ? rows[0]?.id : undefined;
  };
}

/** How a user is called. */
export type UserNames = { id: string; loginName: string; displayName: string };

export type UserNamesReader = {
  /** Of one user, from memory where nothing has changed. */
  of(instanceId: string, id: string): Promise<UserNames | undefined>;
  /** Of many, in one read. */
  ofMany(instanceId: string, ids: readonly string[]): Promise<Map<string, UserNames>>;
};

/** How users are called: by the primary domain of their organization, and by the username where they have no name. */
export function userNamesReader(db: Database): UserNamesReader {
  const t = db.table(users);
  const domainsOf = verifiedDomains(db);
  const { id, organizationId, username, displayName } = t;
  const read = (instanceId: string, ids: readonly string[]) =>
    db.read
      .select({ id, organizationId, username, displayName })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), inArray(id, [...ids])));
  type Row = Awaited<ReturnType<typeof read>>[number];

  async function called(instanceId: string, row: Row): Promise<UserNames> {
    const [domain] = await domainsOf(instanceId, row.organizationId);
    const loginName = domain === undefined ? row.username : `${row.username}@${domain}`;
    return { id: row.id, loginName, displayName: row.displayName || row.username };
  }
  const one = cachedRead(db, [users], async (instanceId, userId) => {
    const [row] = await read(instanceId, [userId]);
    return row;
  });

  return {
    of: current(db, async (instanceId, userId) => {
      const row = await one(instanceId, userId);
      return row === undefined ? undefined : called(instanceId, row);
    }),
    async ofMany(instanceId, ids) {
      const rows = ids.length === 0 ? [] : await read(instanceId, ids);
      const all = await Promise.all(rows.map((row) => called(instanceId, row)));
      return new Map(all.map((names) => [names.id, names]));
    },
  };
}
