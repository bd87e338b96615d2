import { importPKCS8, SignJWT } from "jose";
import { ClientSecretPost } from "openid-client";
import { fromClaims, markOf, said, splitName, textOf } from "./claims.ts";
import { oauthConnector } from "./oauth.ts";
import { oidcConnector, type Parts } from "./oidc.ts";
import type { Connector, ExternalIdentity, ProviderConfig } from "./provider.ts";
import { configInvalid } from "./refusals.ts";

type Brand = Exclude<ProviderConfig, { type: "oidc" | "oauth" | "jwt" | "ldap" | "saml" }>;
type Of<T extends Brand["type"]> = Extract<Brand, { type: T }>;

/** Where the providers are that everybody means. */
const publicAddress = {
  forge_b: "https://gitlab.com",
  social_a: "https://accounts.google.com",
  social_b: "https://appleid.apple.com",
};

/** Providers of a brand: presets of the two protocols, each with what it does in its own way. */
export function brandConnector(parts: Parts, config: Brand, secret: string | undefined): Connector {
  switch (config.type) {
    case "forge_b":
    case "forge_b_self_hosted":
    case "social_a": {
      const issuer =
        config.issuer ?? publicAddress[config.type === "social_a" ? "social_a" : "forge_b"];
      return oidcConnector(parts, asOidc(config, issuer), secret);
    }
    case "social_b":
      return socialB(parts, config, secret);
    case "forge_a":
    case "forge_a_es":
      return forgeA(parts, config, secret);
    case "directory_a":
      return directoryA(parts, config, secret);
    default:
      return config satisfies never;
  }
}

const asOidc = ({ clientId, scopes }: Brand, issuer: string) =>
  ({ type: "oidc", issuer, clientId, scopes, usePkce: true, isIdTokenMapping: false }) as const;

/** Proves the client by a token signed with the key of its team; the name of a user comes with their first answer only. */
function socialB(parts: Parts, config: Of<"social_b">, secret: string | undefined): Connector {
  const { clientId, teamId, keyId, issuer = publicAddress.social_b } = config;
  const scopes = config.scopes.length === 0 ? ["name", "email"] : config.scopes;
  return oidcConnector(parts, { ...asOidc(config, issuer), scopes }, undefined, {
    async auth() {
      const key = await importPKCS8(secret ?? "", "ES256").catch((cause: unknown) => {
        throw configInvalid("its private key is no PKCS #8 key of the curve P-256", cause);
      });
      const made = await new SignJWT({})
        .setProtectedHeader({ alg: "ES256", kid: keyId })
        .setIssuer(teamId)
        .setSubject(clientId)
        .setAudience(issuer)
        .setIssuedAt(parts.now())
        .setExpirationTime(new Date(parts.now().getTime() + 5 * 60_000))
        .sign(key);
      return ClientSecretPost(made);
    },
    parameters: { response_mode: "form_post" },
    complete(identity, form) {
      // It says so as a text; who tells is the signed token all the same.
      const told = identity.raw["email_verified"];
      const isEmailVerified = markOf(told, told === true || told === "true");
      return { ...identity, ...nameIn(form.get("user")), ...said({ isEmailVerified }) };
    },
  });
}

function nameIn(user: string | undefined): Partial<ExternalIdentity> {
  try {
    const parsed = JSON.parse(user ?? "{}") as {
      name?: { firstName?: unknown; lastName?: unknown };
    };
    const { firstName, lastName } = parsed.name ?? {};
    return said({ firstName: textOf(firstName), lastName: textOf(lastName) });
  } catch {
    return {};
  }
}

/** Tells which of the addresses of a user are verified at an address of its own. */
function forgeA(
  parts: Parts,
  config: Of<"forge_a" | "forge_a_es">,
  secret: string | undefined,
): Connector {
  const origin = config.issuer?.replace(/\/$/, "");
  const endpoints =
    config.type === "forge_a_es"
      ? config
      : {
          authorizationEndpoint: `${origin ?? "https://github.com"}/login/oauth/authorize`,
          tokenEndpoint: `${origin ?? "https://github.com"}/login/oauth/access_token`,
          userEndpoint: origin === undefined ? "https://api.github.com/user" : `${origin}/user`,
        };
  const { authorizationEndpoint, tokenEndpoint, userEndpoint } = endpoints;
  return oauthConnector(
    parts,
    {
      type: "oauth",
      authorizationEndpoint,
      tokenEndpoint,
      userEndpoint,
      clientId: config.clientId,
      scopes: config.scopes.length === 0 ? ["read:user", "user:email"] : config.scopes,
      idAttribute: "id",
      usePkce: true,
    },
    secret,
    {
      async more(read) {
        // Needs a scope that was perhaps not asked for: then nothing of the address is proven.
        const all = await read(`${userEndpoint}/emails`).catch(() => []);
        const addresses = (Array.isArray(all) ? all : []) as Record<string, unknown>[];
        const primary = addresses.find((each) => each["primary"] === true);
        return primary === undefined
          ? { email_verified: false }
          : { email: primary["email"], email_verified: primary["verified"] };
      },
      toIdentity: (id, raw) => ({
        ...splitName(textOf(raw["name"])),
        ...fromClaims(id, raw),
        ...said({
          username: textOf(raw["login"]),
          avatarUrl: textOf(raw["avatar_url"]),
          profile: textOf(raw["html_url"]),
        }),
      }),
    },
  );
}

/** Who a user is, its graph tells. Whether their address is verified, the configuration says. */
function directoryA(
  parts: Parts,
  config: Of<"directory_a">,
  secret: string | undefined,
): Connector {
  const origin = config.issuer?.replace(/\/$/, "");
  const base = `${origin ?? "https://login.microsoftonline.com"}/${encodeURIComponent(config.tenant)}`;
  const scopes = config.scopes.length === 0 ? ["openid", "profile", "email"] : config.scopes;
  return oauthConnector(
    parts,
    {
      type: "oauth",
      clientId: config.clientId,
      authorizationEndpoint: `${base}/oauth2/v2.0/authorize`,
      tokenEndpoint: `${base}/oauth2/v2.0/token`,
      userEndpoint: `${origin ?? "https://graph.microsoft.com"}/v1.0/me`,
      scopes: [...new Set([...scopes, "User.Read"])],
      idAttribute: "id",
      usePkce: true,
    },
    secret,
    {
      toIdentity(id, raw) {
        const email = textOf(raw["mail"]);
        return {
          id,
          ...said({
            username: textOf(raw["userPrincipalName"]),
            email,
            firstName: textOf(raw["givenName"]),
            lastName: textOf(raw["surname"]),
            displayName: textOf(raw["displayName"]),
            preferredLanguage: textOf(raw["preferredLanguage"]),
            phone: textOf(raw["mobilePhone"]),
          }),
          ...(config.isEmailVerified ? { isEmailVerified: true } : {}),
          raw,
        };
      },
    },
  );
}
