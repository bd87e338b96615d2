/**
 * What the protocols need of the configuration of a provider (specification 11.3). Addresses are absolute; a branded provider
 * without an `issuer` is the public one.
 */
export type ProviderConfig =
  | OidcConfig
  | OAuthConfig
  | JwtConfig
  | LdapConfig
  | SamlConfig
  | (Branded & { type: "forge_a" })
  | (Branded & { type: "forge_b" })
  | (Branded & { type: "social_a" })
  | (Branded & { type: "forge_b_self_hosted"; issuer: string })
  | (Branded & Endpoints & { type: "forge_a_es" })
  | (Branded & { type: "directory_a"; tenant: string; isEmailVerified: boolean })
  | (Branded & { type: "social_b"; teamId: string; keyId: string });

export type ProviderType = ProviderConfig["type"];

type Endpoints = { authorizationEndpoint: string; tokenEndpoint: string; userEndpoint: string };
type Branded = { clientId: string; scopes: readonly string[]; issuer?: string | undefined };

export type OidcConfig = {
  type: "oidc";
  issuer: string;
  clientId: string;
  scopes: readonly string[];
  usePkce: boolean;
  /** Who the user is, is read of the ID token alone; userinfo is not asked. */
  isIdTokenMapping: boolean;
};

export type OAuthConfig = Endpoints & {
  type: "oauth";
  clientId: string;
  scopes: readonly string[];
  /** The member of what the user endpoint tells that names the user for good. */
  idAttribute: string;
  usePkce: boolean;
};

export type JwtConfig = {
  type: "jwt";
  issuer: string;
  jwtEndpoint: string;
  keysEndpoint: string;
  /** The header of the request that brings the user back, in which the token stands. */
  headerName: string;
};

/** Attributes of an entry, by what they mean. */
export type LdapAttributes = Partial<
  Record<TextOfIdentity | "isEmailVerified" | "isPhoneVerified", string>
>;

export type LdapConfig = {
  type: "ldap";
  /** `ldap://host:389`, `ldaps://host:636`; tried in this order. */
  servers: readonly string[];
  startTls: boolean;
  baseDn: string;
  bindDn: string;
  /** The attribute of an entry that its user binds with; `dn` stands for its name. */
  userBase: string;
  userObjectClasses: readonly string[];
  /** Attributes that hold what a user types as their name. */
  userFilters: readonly string[];
  timeoutMs: number;
  attributes: LdapAttributes;
  /** Certificates (PEM) that are trusted in the place of the public ones. */
  rootCa: string | undefined;
};

export type SamlConfig = {
  type: "saml";
  metadata: { xml: string } | { url: string };
  /** How the request is sent; undefined as the metadata prefers. */
  binding: "post" | "redirect" | undefined;
  withSignedRequest: boolean;
  nameIdFormat: "email_address" | "persistent" | "transient";
  /** Where the provider names users anew each time: the attribute that names them for good. */
  transientMappingAttribute: string | undefined;
};

/** A provider as a login uses it. */
export type Provider = {
  instanceId: string;
  id: string;
  config: ProviderConfig;
  /** Client secret, private key or bind password: what the type has. */
  secret: string | undefined;
};

type TextOfIdentity =
  | "id"
  | "username"
  | "email"
  | "firstName"
  | "lastName"
  | "displayName"
  | "nickName"
  | "preferredLanguage"
  | "phone"
  | "avatarUrl"
  | "profile";

/** Who somebody is, as a provider says. Texts that it does not say are absent, never empty. */
export type ExternalIdentity = { id: string } & Partial<Record<TextOfIdentity, string>> & {
    /** True only by the JSON value `true`: a text is none (D60). Absent where the provider says nothing of it. */
    isEmailVerified?: boolean;
    isPhoneVerified?: boolean;
    /** Everything that the provider said. */
    raw: Record<string, unknown>;
    accessToken?: string;
    idToken?: string;
    /** When the user authenticated to the provider, where it says so. */
    authTime?: Date;
  };

/** Where a browser is sent: an address to open, or a form to be sent there. */
export type Way =
  | { kind: "redirect"; url: string }
  | { kind: "form"; url: string; fields: Readonly<Record<string, string>> };

/** What the answer is judged by, which only the service knows. */
export type Kept = Readonly<Record<string, string>>;

/** What a login asks of a provider. */
export type Begin = {
  /** Comes back with the answer: random, and good for one answer. */
  state: string;
  /** The address of the instance. */
  baseUrl: string;
  /** The user must authenticate now, whatever they proved before. */
  isFresh: boolean;
  loginHint?: string | undefined;
};

/** What came back with a browser: parameters of query or form, and headers. */
export type Answer = {
  baseUrl: string;
  parameters: ReadonlyMap<string, string>;
  header: (name: string) => string | null;
  /** Where the request came from: work for one source waits for that of others, not for all of its own. */
  source?: string | undefined;
};

/** One protocol over one configuration. */
export interface Connector {
  begin(wanted: Begin): Promise<{ way: Way; kept: Kept }>;
  /** @throws IDP_ANSWER_INVALID, IDP_DENIED, IDP_UNAVAILABLE */
  finish(answer: Answer, kept: Kept): Promise<ExternalIdentity>;
}
