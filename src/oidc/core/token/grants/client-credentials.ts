import { targetsOfMachine } from "../../audience.ts";
import {
  authenticateClient,
  authenticateMachine,
  readCredentials,
} from "../../client-auth/index.ts";
import { asClient, OAuthError } from "../../errors.ts";
import { required } from "../../form.ts";
import { formOf, issueTokens } from "../../issue.ts";
import { readScope } from "../../scope.ts";
import type { Grant } from "../grant.ts";
import { fieldsOf } from "../outcome.ts";

/** RFC 6749 section 4.4. The clients are machine users: apps act for users, never for themselves. */
export const clientCredentials: Grant = {
  name: "client_credentials",
  async handle(parts, { request, form, at }) {
    const credentials = readCredentials(request, form);
    const machine = await authenticateMachine(parts, at, credentials);
    if (machine === undefined) {
      const { client, hasProven } = await authenticateClient(parts, at, credentials);
      const description = "apps have no grant client_credentials";
      const { clientId } = client;
      throw new OAuthError("unauthorized_client", description, { clientId, hasProven });
    }
    const { user, clientId } = machine;
    return asClient({ clientId, hasProven: true }, async () => {
      // There is nobody to be asked again: no refresh token, and no ID token of a user.
      const scope = readScope(required(form, "scope")).filter((each) => each !== "offline_access");
      return fieldsOf(
        await issueTokens(parts, at, {
          user,
          clientId,
          client: undefined,
          scope,
          audience: await targetsOfMachine(parts, at, user, scope),
          access: undefined,
          session: undefined,
          accessToken: formOf(user),
          idToken: false,
          refreshToken: false,
          spend: [],
        }),
      );
    });
  },
};
