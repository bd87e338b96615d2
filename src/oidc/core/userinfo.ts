import { projectIdsOf } from "./audience.ts";
import { tellingTo, userClaims } from "./claims.ts";
import type { Endpoint } from "./endpoint.ts";
import { invalidRequest, OAuthError } from "./errors.ts";
import { readForm } from "./form.ts";
import { withFunction } from "./functions.ts";
import { json, type OidcRequest } from "./http.ts";
import { userinfoPath } from "./paths.ts";
import type { TokenParts } from "./token/grant.ts";

/**
 * UserInfo (OpenID Connect Core 1.0 section 5.3): the claims of the user of an access token with the scope `openid`. The
 * token comes in the header, or in the form body of a POST; never in the query (RFC 6750, RFC 9700 section 4.3.2).
 */
export const userinfoEndpoint = (parts: TokenParts): Endpoint => ({
  metadata: "userinfo_endpoint",
  path: userinfoPath,
  methods: ["GET", "POST"],
  caller: "client",
  crossOrigin: "apps",
  isChange: false,
  async handle(request, at) {
    const value = await bearerOf(request);
    const token = await parts.tokens.accessToken(at, value);
    const user = token && (await parts.users.byId(at, token.userId));
    if (token === undefined || user === undefined) {
      throw invalidToken(parts.tokens.newerFormat(value));
    }
    const { scope, audience, oidcSessionId, clientId, claims, actor } = token;
    if (!scope.includes("openid")) throw insufficientScope();
    const client = oidcSessionId === "" ? undefined : await parts.clients.byId(at, clientId);
    const asserted = client?.projectRoleAssertion ?? false;
    const telling = tellingTo(
      client,
      { user, scope, projectIds: projectIdsOf(audience) },
      asserted,
    );
    const response = {
      ...(await userClaims(parts, at, telling, claims?.userinfo)),
      sub: user.id,
      ...(actor === undefined ? {} : { act: actor }),
    };
    const context = { user, clientId, actor, claims: response };
    return json(200, await withFunction(parts, at, "preuserinfo", context));
  },
});

async function bearerOf(request: OidcRequest): Promise<string> {
  const header = request.headers.get("authorization");
  if ((request.headers.count?.("authorization") ?? 1) > 1) {
    throw withChallenge(invalidRequest("send one Authorization header"));
  }
  const isForm =
    request.method === "POST" &&
    (request.headers.get("content-type") ?? "").startsWith("application/x-www-form-urlencoded");
  const inBody = isForm ? (await readForm(request)).get("access_token") : undefined;
  if (header !== null && inBody !== undefined) {
    throw withChallenge(invalidRequest("send the access token in one way only"));
  }
  const bearer = header === null ? inBody : /^bearer +([\x21-\x7e]+)$/i.exec(header)?.[1];
  if (bearer === undefined) {
    throw header === null ? tokenMissing() : invalidToken();
  }
  return bearer;
}

const challenged = (code: string) => ({
  "www-authenticate": `Bearer realm="idsvc", error="${code}"`,
});
const withChallenge = ({ code, message, status, detail }: OAuthError) =>
  new OAuthError(code, message, { status, detail, headers: challenged(code) });

/** Who sends nothing is told how, and of no error (RFC 6750 section 3.1). */
const tokenMissing = () =>
  new OAuthError("invalid_token", "send the header Authorization: Bearer <access token>", {
    status: 401,
    headers: { "www-authenticate": 'Bearer realm="idsvc"' },
  });

const invalidToken = (detail?: string) =>
  withChallenge(
    new OAuthError("invalid_token", "the access token is unknown, expired or revoked", {
      status: 401,
      detail,
    }),
  );

const insufficientScope = () =>
  withChallenge(
    new OAuthError("insufficient_scope", "the access token lacks the scope openid", {
      status: 403,
    }),
  );
