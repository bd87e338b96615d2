import type { Concern, Deps } from "../../projection/module.ts";
import { and, asc, count, eq, isNull, ne, or } from "../../storage/drizzle.ts";
import { userAuthenticators } from "./authenticator/projection.ts";
import { users } from "./projection.ts";

const mostTold = 20;

/** Personal access tokens of people from before they had an end (J1). */
export async function tokenConcerns({ db }: Pick<Deps, "db">): Promise<Concern[]> {
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
      some: rows.slice(0, mostTold).map(({ instanceId, id }) => `${instanceId}/${id}`),
    },
  ];
}

/** Verified marks that no code proved, or of before that was recorded: they count on somebody's word (J9). */
export async function markConcerns({ db }: Pick<Deps, "db">): Promise<Concern[]> {
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
      some: some.map(({ instanceId, id }) => `${instanceId}/${id}`),
    },
  ];
}
