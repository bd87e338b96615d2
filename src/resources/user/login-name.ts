import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { and, asc, eq, inArray } from "../../storage/drizzle.ts";
import { cachedRead, current } from "../../storage/read-cache.ts";
import { instanceFacts } from "../instance/index.ts";
import { domainHolder, provenDomains, verifiedDomains } from "../org/index.ts";
import { domainOfName, users } from "./projection.ts";

/**
 * The id of the user who logs in by a name; undefined where nobody does. The organization is the one that the log-in is
 * bound to, or none.
 */
export type LoginNameReader = (
  instanceId: string,
  loginName: string,
  organizationId?: string,
) => Promise<string | undefined>;

/**
 * A login name is `<username>@<verified domain>`, split at its last `@`; letter case does not matter (decisions C4). Of a
 * domain that nobody had to prove it takes nothing over: a text that led to somebody elsewhere before, as a username where
 * people log in or as a verified contact, is no login name of its organization (authority J10).
 */
export function loginNameReader({ db }: Pick<Deps, "db">): LoginNameReader {
  const t = db.table(users);
  const holderOf = current(db, domainHolder(db));
  const instance = instanceFacts(db);
  const contactHolder = verifiedContactHolder(db);

  async function byUsername(instanceId: string, organizationId: string, username: string) {
    const [row] = await db.read
      .select({ id: t.id, since: t.usernameAt })
      .from(t)
      .where(
        and(
          eq(t.instanceId, instanceId),
          eq(t.organizationId, organizationId),
          eq(t.usernameFolded, caseFold(username)),
        ),
      );
    return row;
  }

  return async (instanceId, loginName, organizationId) => {
    const at = loginName.lastIndexOf("@");
    if (at === -1) return undefined;
    const domain = await holderOf(instanceId, loginName.slice(at + 1).toLowerCase());
    if (domain === undefined) return undefined;
    const own = byUsername(instanceId, domain.organizationId, loginName.slice(0, at));
    if (domain.isProven || organizationId === domain.organizationId) return (await own)?.id;
    const home = organizationId ?? (await instance(instanceId)).defaultOrganizationId;
    // All of them, whether it is anybody's or not: what is asked tells nothing by its time.
    const [found, ...others] = await Promise.all([
      own,
      byUsername(instanceId, home, loginName),
      contactHolder(instanceId, loginName, organizationId),
    ]);
    if (found === undefined) return undefined;
    const since = found.since > domain.since ? found.since : domain.since;
    const isTaken = others.some(
      (other) => other !== undefined && other.id !== found.id && other.since < since,
    );
    return isTaken ? undefined : found.id;
  };
}

/**
 * The id of the user who has this e-mail address, or this phone number, verified; of several who verified it first, so that
 * nobody takes it from an earlier one (authority J9). In an organization every verified mark counts. In the whole instance
 * those count that reach through it; another one only where nobody has one of those. `isStrict` wants exactly one that counts.
 */
export type VerifiedContactReader = (
  instanceId: string,
  contact: string,
  organizationId: string | undefined,
  isStrict?: boolean,
) => Promise<string | undefined>;

// Marks of organizations that vouch for the same address: more of them change nothing.
const mostHolders = 100;

export function verifiedContactReader(db: Database): VerifiedContactReader {
  const holderOf = verifiedContactHolder(db);
  return async (...asked) => (await holderOf(...asked))?.id;
}

function verifiedContactHolder(db: Database) {
  const t = db.table(users);
  const hasProven = provenDomains(db);
  return async (
    instanceId: string,
    contact: string,
    organizationId: string | undefined,
    isStrict = false,
  ) => {
    const isNumber = /^\+[0-9 ]+$/.test(contact);
    const since = isNumber ? t.phoneVerifiedAt : t.emailVerifiedAt;
    const reach = isNumber ? t.phoneReach : t.emailReach;
    const rows = await db.read
      .select({ id: t.id, organizationId: t.organizationId, reach, since })
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
      .orderBy(...(organizationId === undefined ? [asc(reach)] : []), asc(since), asc(t.id))
      .limit(mostHolders);
    const domain = domainOfName(caseFold(contact)) ?? "";
    const reaching: typeof rows = [];
    for (const row of rows) {
      const isKnown = organizationId !== undefined || row.reach === "";
      if (isKnown || (await hasProven(instanceId, row.organizationId)).includes(domain)) {
        reaching.push(row);
      }
    }
    if (isStrict) return reaching.length === 1 ? reaching[0] : undefined;
    return reaching[0] ?? rows[0];
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
