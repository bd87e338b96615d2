import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { invalidField, permissionDenied } from "../../../errors.ts";
import type { Handlers } from "../../../authz/service.ts";
import { requireRoom } from "../authenticator/authenticators.ts";
import { changingUser } from "../change.ts";
import type { Credentials } from "../credentials.ts";
import { toExpiration } from "../../object/expiration.ts";
import { callerId } from "../../../authz/tenancy.ts";
import { addPersonalAccessToken } from "../user.ts";
import { personalAccessTokenSecret } from "./tokens.ts";

export function tokenHandlers({ deps }: Credentials) {
  const change = changingUser(deps);

  return {
    addPersonalAccessToken: ({ id, personalAccessToken }, scope) =>
      change(scope, id, async ({ tx, ref, state, record }) => {
        const field = "personal_access_token.expiration_date";
        const asked = toExpiration(personalAccessToken?.expirationDate, tx.now, field);
        const isMachine = state.schemaType === "machine";
        if (!isMachine && callerId(scope) !== id) throw credentialOfPerson();
        const expiresAt = isMachine ? asked : endOfPersons(asked, tx.now, field);
        requireRoom(state.authenticators, "pat");
        const tokenId = deps.newId();
        record(addPersonalAccessToken(state, tokenId, expiresAt));
        const secret = { id: tokenId, createdAt: tx.now, expiresAt };
        const { token, change: row } = await personalAccessTokenSecret(deps.secrets, ref, secret);
        tx.write(row);
        return { tokenId, token };
      }),
  } satisfies Partial<Handlers<typeof UserService>>;
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
