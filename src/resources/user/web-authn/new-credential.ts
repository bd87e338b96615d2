import type { JsonObject } from "@bufbuild/protobuf";
import { invalidField } from "../../../errors.ts";
import { requireRoom } from "../authenticator/authenticators.ts";
import { type Credential, webAuthNEvents } from "../authenticator/events.ts";
import type { UserInUnit } from "../change.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";
import { verifyCreation } from "./ceremony.ts";

/** What a browser made of the options of a registration. */
export type MadeCredential = { webAuthNId: string; name: string; credential: JsonObject };

/**
 * Adds what a browser made to the user for whom the options were: as a passkey where the authenticator has verified its user, else
 * as a security key; what a browser made by itself as a passkey that does not count yet. It spends the challenge.
 *
 * @throws INVALID_ARGUMENT WEB_AUTH_N_INVALID
 */
export async function addCredential(
  { challenges, relatedOrigins }: Pick<Credentials, "challenges" | "relatedOrigins">,
  { tx, loaded, ref: of, record }: UserInUnit,
  { webAuthNId, name, credential: made }: MadeCredential,
): Promise<void> {
  requirePerson(loaded.state);
  const asked =
    (await challenges.take(tx, of, { id: webAuthNId, purpose: "registration" })) ??
    (await challenges.take(tx, of, { id: webAuthNId, purpose: "preparation" }));
  const isConditional = asked?.purpose === "preparation";
  const related = await relatedOrigins(of.instanceId);
  const created = asked && (await verifyCreation(made, { ...asked, related, isConditional }));
  if (created === undefined) throw credentialInvalid();
  requireRoom(loaded.state.authenticators, "web_authn");
  const { isUserVerified, ...rest } = created;
  const credential: Credential = { webAuthNId, name, ...rest, rpId: asked?.domain ?? "" };
  if (isConditional) {
    return record([userEvents["human.passwordless.token.prepared"](credential)]);
  }
  const token = webAuthNEvents(isUserVerified);
  record([
    userEvents[`${token}.added`](credential),
    userEvents[`${token}.verified`]({ webAuthNId }),
  ]);
}

const credentialInvalid = () =>
  invalidField(
    "verify.public_key_credential",
    "WEB_AUTH_N_INVALID",
    "is not what a browser makes of the options of this registration, on a page of its domain, within ten minutes: start again",
  );
