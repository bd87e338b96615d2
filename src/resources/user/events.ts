import { caseFold } from "../../storage/case-fold.ts";
import { defineEvents, type EventOf, hold, payload } from "../../eventstore/event.ts";

export const usernameClaim = "user.username";

export type Human = {
  organizationId: string;
  username: string;
  givenName: string;
  familyName: string;
  displayName: string;
  preferredLanguage: string;
  email: string;
  isEmailVerified: boolean;
};
export type Machine = {
  organizationId: string;
  username: string;
  name: string;
};

// A username is unique within its organization (decisions C4).
const usernameClaims = ({
  organizationId,
  username,
}: Pick<Machine, "organizationId" | "username">) => [
  hold(usernameClaim, `${organizationId}/${caseFold(username)}`),
];

/** Facts about a user, human or machine. What tells of a person is encrypted with his own key (decisions C7). */
export const userEvents = defineEvents("user", {
  "human.added": payload<Human>({
    personal: ["username", "givenName", "familyName", "displayName", "email"],
    claims: usernameClaims,
  }),
  "machine.added": payload<Machine>({ claims: usernameClaims }),
  "human.password.changed": payload<{ changeRequired: boolean }>(),
  "pat.added": payload<{ tokenId: string; expirationDate: string | undefined }>(),
});

export type UserEvent = EventOf<typeof userEvents>;
