import type { Concern, Deps } from "../../projection/module.ts";
import { and, asc, count, desc, eq, gte, inArray, isNull, ne, or } from "../../storage/drizzle.ts";
import { events } from "../../storage/kernel-tables.ts";
import { userAuthenticators } from "./authenticator/projection.ts";
import { users } from "./projection.ts";

type Parts = Pick<Deps, "db" | "now">;
const mostTold = 20;

const someOf = (rows: readonly { instanceId: string; id: string }[]): string[] =>
  [...new Set(rows.map(({ instanceId, id }) => `${instanceId}/${id}`))].slice(0, mostTold);

/** Personal access tokens of people from before they had an end (J1). */
async function tokenConcerns({ db }: Parts): Promise<Concern[]> {
  const a = db.table(userAuthenticators);
  const u = db.table(users);
  const rows = await db.read
    .select({ instanceId: a.instanceId, id: a.id })
    .from(a)
    .innerJoin(u, and(eq(u.instanceId, a.instanceId), eq(u.id, a.userId)))
    .where(and(eq(a.kind, "pat"), isNull(a.expiresAt), ne(u.schemaType, "machine")));
  return [
    {
      name: "lasting_tokens_of_people",
      text: "personal access tokens of people have no end: their users should make new ones",
      count: rows.length,
      some: someOf(rows),
    },
  ];
}

/** Verified marks that no code proved, or of before that was recorded: they count on somebody's word (J9). */
async function markConcerns({ db }: Parts): Promise<Concern[]> {
  const t = db.table(users);
  const unproven = or(
    and(eq(t.isEmailVerified, true), eq(t.emailProof, "")),
    and(eq(t.isPhoneVerified, true), eq(t.phoneProof, "")),
  );
  const [row] = await db.read.select({ count: count() }).from(t).where(unproven);
  const some = await db.read
    .select({ instanceId: t.instanceId, id: t.id })
    .from(t)
    .where(unproven)
    .orderBy(asc(t.instanceId), asc(t.id))
    .limit(mostTold);
  return [
    {
      name: "marks_without_code",
      text: "users have an address or a number that is verified and that no code is known to have proven: whoever vouched for it is believed",
      count: Number(row?.count ?? 0),
      some: someOf(some),
    },
  ];
}

const monthMs = 30 * 24 * 3_600_000;
const added = "user.recovery.link.added";
const used = "user.recovery.link.used";

/** Ways back into accounts that were made on the machine in the last 30 days, and those that were followed (J21). */
async function recoveryLinkConcerns({ db, now }: Parts): Promise<Concern[]> {
  const t = db.table(events);
  const since = new Date(now().getTime() - monthMs);
  const rows = await db.read
    .select({ instanceId: t.instanceId, id: t.aggregateId, type: t.type })
    .from(t)
    .where(and(inArray(t.type, [added, used]), gte(t.createdAt, since)))
    .orderBy(desc(t.createdAt));
  const listed = (type: string) => {
    const of = rows.filter((row) => row.type === type);
    return { count: of.length, some: someOf(of) };
  };
  return [
    {
      name: "recovery_links_made",
      text: "recovery links were made on this machine in the last 30 days: someone here should know of each",
      ...listed(added),
    },
    {
      name: "recovery_links_used",
      text: "recovery links were used in the last 30 days: the users were given new passwords by them",
      ...listed(used),
    },
  ];
}

/** What those who run the service should know of users. */
export const userConcerns = async (parts: Parts): Promise<Concern[]> =>
  (
    await Promise.all([tokenConcerns(parts), markConcerns(parts), recoveryLinkConcerns(parts)])
  ).flat();
