import { assertionAlgorithms } from "./assertion.ts";
import { standardClaimNames } from "./claims.ts";
import { authMethodNames } from "./client-auth/index.ts";
import type { Endpoint } from "./endpoint.ts";
import type { OidcAnswer } from "./http.ts";
import { introspectionMethods } from "./introspect.ts";
import { discoveryPath } from "./paths.ts";
import type { At, Prompt, ResponseType } from "./ports.ts";
import { standardScopes } from "./scope.ts";
import { grants } from "./token/endpoint.ts";
import type { TokenParts } from "./token/grant.ts";

const cached = "max-age=300, must-revalidate";
const responseTypes: readonly ResponseType[] = ["code", "id_token", "id_token token"];
const prompts: readonly Prompt[] = ["none", "login", "consent", "select_account", "create"];
const protocolClaims = [
  "sub",
  "aud",
  "exp",
  "iat",
  "iss",
  "auth_time",
  "nonce",
  "acr",
  "amr",
  "at_hash",
  "azp",
  "sid",
  "act",
];
const switched = grants.filter(({ isOn }) => isOn !== undefined);
const everyMethod = Object.values(authMethodNames);

/**
 * What the provider can do (OpenID Connect Discovery 1.0 section 3): computed from the endpoints, grants and methods
 * that it has, with registered names only.
 */
export function discoveryEndpoint(
  parts: TokenParts,
  endpoints: () => readonly Endpoint[],
): Endpoint {
  const prepared = new Map<string, { facts: Facts; answer: OidcAnswer }>();

  async function factsAt(at: At): Promise<Facts> {
    const { keys, settings } = parts;
    const facts: unknown[] = [await keys.publicKeys(at), await settings.uiLocales(at)];
    for (const { isOn } of switched) facts.push(await isOn?.(parts, at));
    return facts;
  }

  async function write(at: At): Promise<OidcAnswer> {
    const { keys, settings } = parts;
    const published = (await keys.publicKeys(at)).map(({ alg }) => alg);
    const on = await Promise.all(grants.map(async ({ isOn }) => isOn?.(parts, at) ?? true));
    const body = document(at.issuer, endpoints(), {
      algs: [...new Set(["RS256", ...published])],
      languages: await settings.uiLocales(at),
      grantNames: grants.filter((_, index) => on[index]).map(({ name }) => name),
      acrValues: parts.acrValues,
    });
    const headers = { "content-type": "application/json", "cache-control": cached };
    return { status: 200, headers, body: JSON.stringify(body) };
  }

  return {
    metadata: "",
    path: discoveryPath,
    methods: ["GET"],
    caller: "client",
    crossOrigin: "any",
    isChange: false,
    async handle(_, at) {
      const facts = await factsAt(at);
      const known = prepared.get(at.issuer);
      if (known !== undefined && areSame(known.facts, facts)) return known.answer;
      const answer = await write(at);
      // Hosts are those of instances: there are not more of them than domains.
      prepared.set(at.issuer, { facts, answer });
      return answer;
    },
  };
}

/** What of the document can change while the service runs; a list that is the same object has not changed. */
type Facts = readonly unknown[];

const areSame = (one: Facts, other: Facts): boolean =>
  one.length === other.length && one.every((each, at) => each === other[at]);

function document(
  issuer: string,
  endpoints: readonly Endpoint[],
  facts: Record<"algs" | "languages" | "grantNames" | "acrValues", readonly string[]>,
) {
  const addresses = endpoints
    .filter(({ metadata }) => metadata !== "")
    .map(({ metadata, path }) => [metadata, `${issuer}${path}`] as const);
  const has = (metadata: string) => addresses.some(([name]) => name === metadata);
  const canLogin = has("authorization_endpoint");
  const canLogout = has("end_session_endpoint");
  return {
    issuer,
    ...Object.fromEntries(addresses),
    scopes_supported: standardScopes,
    response_types_supported: responseTypes,
    response_modes_supported: ["query", "fragment", "form_post"],
    grant_types_supported: canLogin ? [...facts.grantNames, "implicit"] : facts.grantNames,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: facts.algs,
    token_endpoint_auth_methods_supported: everyMethod,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    introspection_endpoint_auth_methods_supported: introspectionMethods.map(
      (method) => authMethodNames[method],
    ),
    introspection_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    revocation_endpoint_auth_methods_supported: everyMethod,
    revocation_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    claims_supported: [...protocolClaims, ...standardClaimNames],
    claims_parameter_supported: true,
    code_challenge_methods_supported: ["S256"],
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    ...(canLogin
      ? {
          acr_values_supported: facts.acrValues,
          prompt_values_supported: prompts,
          authorization_response_iss_parameter_supported: true,
        }
      : {}),
    ui_locales_supported: facts.languages,
    ...(canLogout
      ? { backchannel_logout_supported: true, backchannel_logout_session_supported: true }
      : {}),
  };
}
