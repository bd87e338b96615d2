import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { writeContext } from "../../../authz/context.ts";
import { invalidField, permissionDenied } from "../../../errors.ts";
import type { Handlers } from "../../../authz/service.ts";
import { toDetails } from "../../object/details.ts";
import { requireHeld, requireRoom } from "../authenticator/authenticators.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { toExpiration } from "../../object/expiration.ts";
import { callerId } from "../../../authz/tenancy.ts";
import { addPersonalAccessToken, user, userNotFound } from "../user.ts";
import { personalAccessTokenRef, personalAccessTokenSecret } from "./stored.ts";

export type TokenMethods = "addPersonalAccessToken" | "removePersonalAccessToken";

export function tokenHandlers({
  deps,
}: Credentials): Pick<Handlers<typeof UserService>, TokenMethods> {
  const { events, secrets, newId } = deps;

  return {
    async addPersonalAccessToken({ id, personalAccessToken }, scope) {
      const at = { instanceId: scope.instanceId, userId: id };
      const [written, made] = await events.transact(writeContext(scope), async (tx) => {
        const field = "personal_access_token.expiration_date";
        const asked = toExpiration(personalAccessToken?.expirationDate, tx.now, field);
        const loaded = await tx.load(user, id);
        if (loaded.state === undefined) throw userNotFound();
        const isMachine = loaded.state.schemaType === "machine";
        if (!isMachine && callerId(scope) !== id) throw credentialOfPerson();
        const expiresAt = isMachine ? asked : endOfPersons(asked, tx.now, field);
        requireRoom(loaded.state.authenticators, "pat");
        const tokenId = newId();
        tx.record(user, loaded, addPersonalAccessToken(loaded.state, tokenId, expiresAt));
        const secret = { id: tokenId, createdAt: tx.now, expiresAt };
        const { token, change } = await personalAccessTokenSecret(secrets, at, secret);
        tx.write(change);
        return [tx.written(loaded), { tokenId, token }];
      });
      return { details: toDetails(written()), ...made };
    },

    async removePersonalAccessToken({ id, tokenId }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        if (loaded.state === undefined) throw userNotFound();
        requireHeld(loaded.state.authenticators, "pat", tokenId);
        tx.record(user, loaded, [userEvents["pat.removed"]({ tokenId })]);
        const at = { instanceId: scope.instanceId, userId: id };
        tx.write(secrets.remove(personalAccessTokenRef(at, tokenId)));
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },
  };
}

const dayMs = 24 * 3_600_000;
const usualDays = 90;
const mostDays = 366;

/** Tokens of people always end (J1). @throws INVALID_ARGUMENT EXPIRATION_TOO_FAR */
function endOfPersons(asked: Date | undefined, now: Date, field: string): Date {
  if (asked === undefined) return new Date(now.getTime() + usualDays * dayMs);
  if (asked.getTime() - now.getTime() <= mostDays * dayMs) return asked;
  const description = `must be within ${mostDays} days: a token of a person always ends`;
  throw invalidField(field, "EXPIRATION_TOO_FAR", description, {
    metadata: { maximum_days: String(mostDays) },
  });
}

const credentialOfPerson = () =>
  permissionDenied(
    "CREDENTIAL_OF_PERSON",
    "people make their own personal access tokens, and nobody makes one for them: give a machine user what is to run by itself",
  );
