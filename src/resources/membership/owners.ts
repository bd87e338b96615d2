import type { EventStore } from "../../eventstore/eventstore.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { rowsWhere } from "../../projection/rows.ts";
import { organization } from "../org/index.ts";
import { lastsUntil, user } from "../user/index.ts";
import { memberships } from "./projection.ts";

const owner = "IAM_OWNER";

/** The users who are owners of each instance, as far as they have accepted it. */
export async function ownersByInstance(db: Database): Promise<Map<string, string[]>> {
  const rows = await rowsWhere(db, memberships, { contextType: "instance" });
  const owners = rows.filter(({ roles, isAccepted }) => isAccepted && roles.includes(owner));
  return new Map(
    [...Map.groupBy(owners, ({ instanceId }) => instanceId)].map(([instanceId, all]) => [
      instanceId,
      [...new Set(all.map(({ userId }) => userId))],
    ]),
  );
}

/** The owners of each instance, and until when one of them can log in as things are. */
export async function* lastOwners({ db, events }: Pick<Deps, "db" | "events">) {
  for (const [instanceId, owners] of await ownersByInstance(db)) {
    const ends = await Promise.all(owners.map((id) => canLogInUntil(events, instanceId, id)));
    yield { instanceId, owners, end: Math.max(...ends) };
  }
}

/** Until when an owner can log in as things are (milliseconds since the epoch); who cannot at all could never. */
export async function canLogInUntil(
  { load }: Pick<EventStore, "load">,
  instanceId: string,
  userId: string,
): Promise<number> {
  const { state } = await load(user, instanceId, userId);
  if (state?.state !== "active") return Number.NEGATIVE_INFINITY;
  const { state: of } = await load(organization, instanceId, state.organizationId);
  return of?.state === "active" ? lastsUntil(state) : Number.NEGATIVE_INFINITY;
}
