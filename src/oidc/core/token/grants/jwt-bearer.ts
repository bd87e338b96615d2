import { kidOf, type Unproven, unproven, verifyAssertion } from "../../assertion.ts";
import { targetsOfMachine } from "../../audience.ts";
import { OAuthError } from "../../errors.ts";
import { required } from "../../form.ts";
import { formOf, issueTokens } from "../../issue.ts";
import { tokenPath } from "../../paths.ts";
import { readScope } from "../../scope.ts";
import type { Grant } from "../grant.ts";
import { fieldsOf } from "../outcome.ts";
import { usedUpAnyway } from "../used-up.ts";

/**
 * RFC 7523 section 2.1: a machine user signs about itself with its own key, and stands for itself. An assertion counts
 * once.
 */
export const jwtBearer: Grant = {
  name: "urn:ietf:params:oauth:grant-type:jwt-bearer",
  async handle(parts, { form, at }) {
    const assertion = required(form, "assertion");
    const asked = required(form, "scope");
    const scope = readScope(asked).filter((each) => each !== "offline_access");
    const kid = kidOf(assertion);
    const user = kid === undefined ? undefined : await parts.users.byKeyId(at, kid);
    if (user === undefined) throw invalid(unproven("no key of a machine user has its kid"));
    const verified = await verifyAssertion(assertion, {
      keyOf: async () => user.publicKey,
      used: (id) => parts.users.keyUsed(at, user, id),
      audiences: [at.issuer, `${at.issuer}${tokenPath}`],
      now: parts.now(),
    });
    // Nobody's key speaks for another.
    if ("unproven" in verified) throw invalid(verified, user.id);
    if (verified.subject !== user.id || verified.issuer !== user.id) {
      throw invalid(unproven("iss and sub are not both the id of the user"), user.id);
    }
    const { jti = verified.digest, expiresAt } = verified;
    const clientId = user.id;
    const spend = [{ kind: "assertion" as const, issuer: `user:${user.id}`, jti, expiresAt }];
    const issued = await usedUpAnyway(parts.tokens, at, spend, async () =>
      issueTokens(parts, at, {
        user,
        clientId,
        client: undefined,
        scope,
        spend,
        audience: await targetsOfMachine(parts, at, user, scope),
        access: undefined,
        session: undefined,
        accessToken: formOf(user),
        idToken: scope.includes("openid"),
        refreshToken: false,
      }),
    );
    if (issued.outcome === "spent") throw invalid(unproven("it was used before"), user.id);
    return fieldsOf(issued);
  },
};

function invalid({ unproven: detail }: Unproven, clientId?: string): OAuthError {
  const description = "the assertion is no valid one of a machine user, or was used before";
  return new OAuthError("invalid_grant", description, { detail, clientId });
}
