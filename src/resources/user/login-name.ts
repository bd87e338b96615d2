import { columnsWhere } from "../../projection/rows.ts";
import type { Deps } from "../../projection/module.ts";
import { rowByKey } from "../../projection/ids.ts";
import type { Database } from "../../storage/database.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { and, asc, count, eq, inArray, ne } from "../../storage/drizzle.ts";
import { cachedRead, current } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { instanceFacts } from "../instance/index.ts";
import { domainHolders, provenDomains, verifiedDomains } from "../org/index.ts";
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

/** A user, and since when the text that was asked for leads to them. */
type Led = { id: string; since: bigint };

function earliest(found: readonly (Led | undefined)[]): Led | undefined {
  let first: Led | undefined;
  for (const one of found) {
    if (one !== undefined && (first === undefined || one.since < first.since)) first = one;
  }
  return first;
}

/**
 * A login name is `<username>@<verified domain>`, split at its last `@`; letter case does not matter (C4). A domain
 * that is proven is its organization's alone. Of several organizations that claim one without a proof, and of whomever a text
 * led to besides, as a username where people log in or as a verified contact, it leads to the one whom it led to first
 * (J10).
 */
export function loginNameReader({ db }: Pick<Deps, "db">): LoginNameReader {
  const holdersOf = current(db, domainHolders(db));
  const instance = instanceFacts(db);
  const contactHolder = verifiedContactHolder(db);
  const byUsername = usernameHolders(db);

  return async (instanceId, loginName, organizationId) => {
    const at = loginName.lastIndexOf("@");
    if (at === -1) return undefined;
    const holders = await holdersOf(instanceId, loginName.slice(at + 1).toLowerCase());
    const named = holders.find((holder) => holder.organizationId === organizationId);
    const username = loginName.slice(0, at);
    const [first] = named === undefined ? holders : [named];
    if (first === undefined) return undefined;
    if (first.isProven || first === named) {
      return (await byUsername(instanceId, [first.organizationId], username))[0]?.id;
    }
    const home = organizationId ?? (await instance(instanceId)).defaultOrganizationId;
    const sinceOf = new Map(holders.map((holder) => [holder.organizationId, holder.since]));
    // All of them, whether it is anybody's or not: what is asked tells nothing by its time.
    const [below, atHome, contact] = await Promise.all([
      byUsername(instanceId, [...sinceOf.keys()], username),
      byUsername(instanceId, [home], loginName),
      contactHolder(instanceId, loginName, organizationId),
    ]);
    const own = earliest(
      below.map(({ id, since, organizationId: holder }) => {
        const domainSince = sinceOf.get(holder) ?? since;
        return { id, since: since > domainSince ? since : domainSince };
      }),
    );
    return earliest([own, ...atHome, contact])?.id === own?.id ? own?.id : undefined;
  };
}

function usernameHolders(db: Database) {
  const t = db.table(users);
  return (instanceId: string, organizationIds: readonly string[], username: string) =>
    db.read
      .select({ id: t.id, organizationId: t.organizationId, since: t.usernameAt })
      .from(t)
      .where(
        and(
          eq(t.instanceId, instanceId),
          inArray(t.organizationId, [...organizationIds]),
          eq(t.usernameFolded, caseFold(username)),
        ),
      );
}

/** The id of the user who has a username in an organization. */
export function usernameReader(db: Database) {
  const byUsername = usernameHolders(db);
  return async (instanceId: string, organizationId: string, username: string) =>
    (await byUsername(instanceId, [organizationId], username))[0]?.id;
}

/** How many users of other organizations have a username that ends in a domain. */
export function usernamesElsewhere(db: Database) {
  const t = db.table(users);
  return async (instanceId: string, domain: string, organizationId: string): Promise<bigint> => {
    const below = and(
      eq(t.instanceId, instanceId),
      eq(t.usernameDomain, caseFold(domain)),
      ne(t.organizationId, organizationId),
    );
    const [row] = await db.read.select({ count: count() }).from(t).where(below);
    return BigInt(row?.count ?? 0);
  };
}

/**
 * The id of the user who has this e-mail address, or this phone number, verified; of several who verified it first, so that
 * nobody takes it from an earlier one (J9). In an organization every verified mark counts. In the whole instance
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

/**
 * The id of the user whose account an e-mail address is when somebody registers with it in an organization: who has it
 * verified there, or elsewhere so that it reaches through the instance. What another organization says for itself keeps
 * nobody from registering here.
 */
export function accountOfAddress(db: Database) {
  const holdersOf = verifiedContactHolders(db);
  return async (instanceId: string, address: string, organizationId: string) => {
    const [here, elsewhere] = await Promise.all([
      holdersOf(instanceId, address, organizationId),
      holdersOf(instanceId, address, undefined),
    ]);
    return (here.reaching[0] ?? elsewhere.reaching[0])?.id;
  };
}

function verifiedContactHolder(db: Database) {
  const holdersOf = verifiedContactHolders(db);
  return async (...[instanceId, contact, within, isStrict]: Parameters<VerifiedContactReader>) => {
    const { rows, reaching } = await holdersOf(instanceId, contact, within);
    if (isStrict === true) return reaching.length === 1 ? reaching[0] : undefined;
    return reaching[0] ?? rows[0];
  };
}

/** Who has a contact verified, the earliest first, and of them those whose mark reaches so far. */
function verifiedContactHolders(db: Database) {
  const t = db.table(users);
  const hasProven = provenDomains(db);
  return async (instanceId: string, contact: string, organizationId: string | undefined) => {
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
    return { rows, reaching };
  };
}

/** How a user is called. */
export type UserNames = { id: string; loginName: string; displayName: string };

export type UserNamesReader = ReturnType<typeof userNamesReader>;

/** How users are called: by the primary domain of their organization, and by the username where they have no name. */
export function userNamesReader(db: Database) {
  const domainsOf = verifiedDomains(db);
  const named = ["id", "organizationId", "username", "displayName"] as const;
  type Named = Pick<Row<typeof users>, (typeof named)[number]>;

  async function called(instanceId: string, row: Named): Promise<UserNames> {
    const [domain] = await domainsOf(instanceId, row.organizationId);
    const loginName = domain === undefined ? row.username : `${row.username}@${domain}`;
    return { id: row.id, loginName, displayName: row.displayName || row.username };
  }
  const one = cachedRead(db, [users], rowByKey(db, users));

  return {
    /** Of one user, from memory where nothing has changed. */
    of: current(db, async (instanceId: string, userId: string) => {
      const row = await one(instanceId, userId);
      return row === undefined ? undefined : called(instanceId, row);
    }),
    /** Of many, in one read. */
    async ofMany(instanceId: string, ids: readonly string[]): Promise<Map<string, UserNames>> {
      if (ids.length === 0) return new Map();
      const rows = await columnsWhere(db, users, named, { instanceId, id: ids });
      const all = await Promise.all(rows.map((row) => called(instanceId, row)));
      return new Map(all.map((names) => [names.id, names]));
    },
  };
}
