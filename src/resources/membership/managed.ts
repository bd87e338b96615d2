import type { MakeMember } from "../../authz/ports.ts";
import { pagesOf } from "../../projection/pages.ts";
import type { Database } from "../../storage/database.ts";
import { membershipClaim } from "./events.ts";
import { claimOf, ownerOf } from "./member-context.ts";
import { addMember, membership } from "./membership.ts";
import { newPower } from "./new-power.ts";
import { memberships } from "./projection.ts";

export const memberMaker =
  (newId: () => string): MakeMember =>
  (tx, member) => {
    const loaded = tx.begin(membership, newId());
    const owner = ownerOf(member.context, tx.at.instanceId);
    tx.record(membership, loaded, addMember(loaded.state, member), owner);
  };

/** Memberships of organizations, as imports and exports have them. */
export const managedMembers = {
  claim: { kind: membershipClaim, valueOf: claimOf },
  newPower,
  pagesOf: (db: Database) => (instanceId: string, organizationId: string) =>
    pagesOf(db, memberships, ["contextId", "userId"], instanceId, { organizationId }),
};
