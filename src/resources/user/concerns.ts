import type { Concern, Deps } from "../../projection/module.ts";
import { and, eq, isNull, ne } from "../../storage/drizzle.ts";
import { userAuthenticators } from "./authenticator/projection.ts";
import { users } from "./projection.ts";

const mostTold = 20;

/** Personal access tokens of people from before they had an end (authority J1). */
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
