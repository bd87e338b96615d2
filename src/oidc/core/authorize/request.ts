import { acrRequestOf } from "./acr.ts";
import { hintIgnored, isJwt, readIdTokenHint } from "./id-token-hint.ts";
import { claimsRequestOf } from "./claims-parameter.ts";
import { proveClient } from "./client.ts";
import { maxAgeOf } from "./max-age.ts";
import { nonceOf } from "./nonce.ts";
import { codeChallengeOf } from "./pkce.ts";
import { promptOf } from "./prompt.ts";
import { refuse } from "./refusal.ts";
import { refuseRequestObject } from "./request-object.ts";
import { type Destination } from "./respond.ts";
import { checkResponseMode, responseModeOf, responseTypeOf } from "./response-type.ts";
import { organizationOf, scopeOf } from "./scope.ts";
import { collect, words } from "../form.ts";
import type { At, AuthorizationRequest, Client, Ports } from "../ports.ts";

const longestState = 8_192;
const mostLocales = 20;

/**
 * Reads an authorization request. The order counts: what comes before the destination is known is shown on a page of our
 * own, what comes after is told to the client.
 *
 * @param onDestination is told where refusals may go, as soon as that is proven
 * @param note takes what the log should say of a request that is good otherwise
 * @throws OAuthError before, AuthorizationRefused after
 */
export async function readAuthorizationRequest(
  { clients, keys }: Pick<Ports, "clients" | "keys">,
  at: At,
  encoded: readonly string[],
  onDestination: (destination: Destination, client: Client) => void,
  note: (reason: string) => void,
): Promise<{ request: AuthorizationRequest; client: Client }> {
  const { parameters, repeated } = collect(...encoded);
  const { client, redirectUri } = await proveClient(clients, at, parameters, repeated);
  const state = repeated.has("state") ? undefined : parameters.get("state");
  const wanted = responseModeOf(parameters, repeated);
  const isPostable = /^https?:/i.test(redirectUri);
  const responseMode = wanted === "form_post" && !isPostable ? "fragment" : wanted;
  const destination = { redirectUri, state, responseMode };
  onDestination(destination, client);
  if (responseMode !== wanted) {
    throw refuse("invalid_request", "form_post needs a redirect_uri of http or https");
  }

  const [twice] = repeated;
  if (twice !== undefined) throw refuse("invalid_request", `${twice} must be sent once`);
  refuseRequestObject(parameters);
  const responseType = responseTypeOf(parameters, client);
  checkResponseMode(parameters, responseType);
  if ((state?.length ?? 0) > longestState) {
    throw refuse("invalid_request", `the state is longer than ${longestState} characters`);
  }
  const scope = scopeOf(parameters);
  const prompt = promptOf(parameters);
  const maxAgeSeconds = maxAgeOf(parameters);
  const nonce = nonceOf(parameters, responseType);
  const codeChallenge = codeChallengeOf(parameters, responseType, client);
  const claims = claimsRequestOf(parameters);
  const sentHint = parameters.get("id_token_hint");
  if (sentHint !== undefined && !isJwt(sentHint)) {
    throw refuse("invalid_request", "the id_token_hint is no JWT");
  }
  const hint = await readIdTokenHint(keys, at, sentHint);
  const request: AuthorizationRequest = {
    ...destination,
    clientId: client.clientId,
    responseType,
    scope,
    nonce,
    prompt,
    maxAgeSeconds,
    uiLocales: words(parameters.get("ui_locales")).slice(0, mostLocales),
    loginHint: parameters.get("login_hint")?.slice(0, 200),
    hintedUserId: hint?.userId,
    organization: organizationOf(scope),
    codeChallenge,
    claims,
    acr: acrRequestOf(parameters, claims),
  };
  if (sentHint !== undefined && hint === undefined) note(hintIgnored);
  return { request, client };
}
