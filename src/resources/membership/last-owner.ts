import { failedPrecondition } from "../../errors.ts";
import type { Invariant } from "../../eventstore/settle.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { rowsWhere } from "../../projection/rows.ts";
import { organization } from "../org/index.ts";
import { canLogIn, user } from "../user/index.ts";
import { membership } from "./membership.ts";
import { memberships } from "./projection.ts";

const owner = "IAM_OWNER";

/**
 * The last owner stays (J3): after every unit that takes something from an owner there is an active one, in an
 * active organization, who has something to log in with. Whoever is found stays as found until the unit commits, so
 * that two units cannot each rely on the owner that the other takes away.
 */
export const lastOwnerStays = ({ db }: { db: Database }): Invariant => {
  return {
    after: [
      "instance.member.changed",
      "instance.member.removed",
      "instance.member.cascade.removed",
      "user.deactivated",
      "user.locked",
      "user.removed",
      "user.human.password.removed",
      "user.human.passwordless.token.removed",
      "user.human.externalidp.removed",
      "user.human.externalidp.cascade.removed",
      "user.pat.removed",
      "user.machine.key.removed",
      "user.machine.secret.removed",
      "org.deactivated",
      "org.removed",
    ],

    async hold(tx, { instanceId }, happened) {
      const rows = await rowsWhere(db, memberships, { instanceId, contextType: "instance" });
      const owners = rows.filter(({ roles }) => roles.includes(owner));
      const concerned = new Set(happened.map(({ aggregateId }) => aggregateId));
      const isOfOrganization = happened.some(({ type }) => type.startsWith("org."));
      const isAny = owners.some(({ id, userId }) => concerned.has(id) || concerned.has(userId));
      if (!isAny && !(isOfOrganization && (await holdsOwner(tx, owners, concerned)))) return;
      // Those whom the unit does not touch first: what is found is held.
      const byDistance = owners.toSorted(
        (a, b) => Number(concerned.has(a.userId)) - Number(concerned.has(b.userId)),
      );
      for (const each of byDistance) if (await isOwner(tx, each)) return;
      throw lastOwner();
    },
  };
};

type Candidate = { id: string; userId: string };

async function holdsOwner(
  tx: Transaction,
  owners: readonly Candidate[],
  organizationIds: ReadonlySet<string>,
): Promise<boolean> {
  for (const { userId } of owners) {
    const { state } = await tx.load(user, userId);
    if (state !== undefined && organizationIds.has(state.organizationId)) return true;
  }
  return false;
}

async function isOwner(tx: Transaction, { id, userId }: Candidate): Promise<boolean> {
  const { state: held } = await tx.load(membership, id);
  if (held?.isAccepted !== true || held.context.type !== "instance") return false;
  if (!held.roles.includes(owner)) return false;
  const { state } = await tx.load(user, userId);
  if (state?.state !== "active" || !canLogIn(state, tx.now)) return false;
  const { state: of } = await tx.load(organization, state.organizationId);
  return of?.state === "active";
}

const lastOwner = () =>
  failedPrecondition(
    "LAST_OWNER",
    "the instance would be without an active IAM_OWNER who can log in: make somebody else one first",
  );
