import type { JsonObject } from "@bufbuild/protobuf";
import { caseFold } from "../../storage/case-fold.ts";
import { defineEvents, type EventOf, hold, payload, release } from "../../eventstore/event.ts";
import { authenticatorPayloads, credentialClaim, idpLinkClaim } from "./authenticator/events.ts";
import { clientIdClaim } from "./client-id.ts";

export const usernameClaim = "user.username";
export const externalIdClaim = "user.external_id";

/**
 * How far a verified mark reaches that no code proved: the organization of the user, where only somebody there vouches for it.
 * Absent: the whole instance, which a code and whoever writes the instance vouch for, and as marks of before count (J9).
 */
export type Reach = { reach?: "organization" };

/** What proved a verified mark: a code, or that whoever runs the service set up the first owner. Absent: nothing that is known. */
export type MarkProof = { proof?: "code" | "setup" };

type Named = { organizationId: string; username: string };

/** What a new user is. `data` follows their schema; it is JSON text where it tells of a person. */
export type AddedUser<D> = Named & ChangedData<D>;
/** The first shape of `user.human.added`, before there were schemas. */
type FirstHuman = Named & {
  givenName: string;
  familyName: string;
  displayName: string;
  preferredLanguage: string;
  email: string;
  isEmailVerified: boolean;
};
type ExternalId = { organizationId: string; externalId: string };
type FirstMachine = Named & { name: string };

export type ChangedData<D> = {
  schemaId: string;
  schemaType: string;
  schemaRevision: number;
  data: D;
};

// A username is unique within its organization (C4).
const usernameClaims = ({ organizationId, username }: Named) => [
  hold(usernameClaim, `${organizationId}/${caseFold(username)}`),
];
// What another system calls a user is unique within the organization and that system. Between the slashes stands which one it is:
// nothing, for whatever tells it by the API.
const externalIdClaims = ({ organizationId, externalId }: ExternalId) => [
  externalId === ""
    ? release(externalIdClaim)
    : hold(externalIdClaim, `${organizationId}//${externalId}`),
];
const personalData = payload<ChangedData<string>>({ personal: ["data"] });
const nothing = () => payload<Record<string, never>>();

/** Facts about a user. What tells of a person is encrypted with their own key (C7). */
export const userEvents = defineEvents("user", {
  "human.added": payload<AddedUser<string> | FirstHuman>({
    personal: ["username", "data", "givenName", "familyName", "displayName", "email"],
    claims: usernameClaims,
    revision: 2,
  }),
  "machine.added": payload<AddedUser<JsonObject> | FirstMachine>({
    claims: usernameClaims,
    revision: 2,
  }),
  /** A user of a schema of the instance's own. */
  added: payload<AddedUser<string>>({ personal: ["username", "data"], claims: usernameClaims }),
  "human.profile.changed": personalData,
  "machine.changed": payload<ChangedData<JsonObject>>(),
  changed: personalData,
  "username.changed": payload<Named>({ personal: ["username"], claims: usernameClaims }),
  /** What another system calls them; empty where none does any more. */
  "external_id.changed": payload<ExternalId>({
    personal: ["externalId"],
    claims: externalIdClaims,
  }),
  /**
   * Another organization has proven the domain that their username ended in, which so was changed. The id is that of the claim,
   * which tells nothing of who made it.
   */
  "domain.claimed": payload<{ domain: string; claimId: string }>({ personal: ["domain"] }),
  deactivated: nothing(),
  reactivated: nothing(),
  locked: nothing(),
  unlocked: nothing(),
  /** All sessions of the user, and the tokens that came of them, end. */
  "sessions.ended": nothing(),
  /** A way back in was made on the machine that the service runs on (J21). */
  /** They own a new instance outside loopback: the pages of the login have them set up a second factor. */
  "human.mfa.setup.demanded": nothing(),
  "recovery.link.added": nothing(),
  /** It was followed: every other way into the account has ended. */
  "recovery.link.used": nothing(),
  removed: payload<{ organizationId: string }>({
    claims: () =>
      [usernameClaim, externalIdClaim, clientIdClaim, credentialClaim, idpLinkClaim].map((kind) =>
        release(kind),
      ),
  }),
  "human.initialization.code.added": nothing(),
  "human.email.changed": payload<{ address: string }>({ personal: ["address"] }),
  "human.email.verified": payload<Reach & MarkProof>(),
  "human.email.verification.failed": nothing(),
  "human.email.code.added": nothing(),
  "human.phone.changed": payload<{ number: string }>({ personal: ["number"] }),
  "human.phone.verified": payload<Reach & MarkProof>(),
  "human.phone.verification.failed": nothing(),
  "human.phone.code.added": nothing(),
  ...authenticatorPayloads,
});

export type UserEvent = EventOf<typeof userEvents>;
export type AuthenticatorEvent = Extract<
  UserEvent,
  { type: `user.${keyof typeof authenticatorPayloads}` }
>;

export const isAuthenticatorEvent = (event: UserEvent): event is AuthenticatorEvent =>
  event.type.slice("user.".length) in authenticatorPayloads;
