import type { Awaitable } from "../../awaitable.ts";
import type { ApiPower, ApiReach, AudienceRef, Consents } from "./api-ports.ts";
import type { AuthorizationRequest, Missing } from "./authorize-ports.ts";
import type { Devices } from "./device-ports.ts";
import type { Keys } from "./key-ports.ts";
import type { Functions } from "./functions.ts";
import type { Settings } from "./settings-ports.ts";

export type { AcrRequest, AuthorizationRequest, Missing, Prompt } from "./authorize-ports.ts";

/**
 * The only way out of the provider core. Whoever implements a port keeps to what it promises here: what is revoked,
 * deactivated or ended is not found, from the next read of this process on and within a second on every replica
 * (B7).
 */
export type Ports = {
  clients: Clients;
  consents: Consents;
  users: Users;
  tokens: Tokens;
  devices: Devices;
  functions: Functions;
  browsers: Browsers;
  interactions: Interactions;
  keys: Keys;
  settings: Settings;
  /** Notes that a client has not proven itself; `client` where it is known which one. Nobody waits for it. */
  noteRefusedClient: (at: At, operation: string, client: Client | undefined) => void;
  /** What `acr` can say of a login, from the strongest down. */
  acrValues: readonly string[];
  now: () => Date;
  newId: () => string;
  /** A new secret of at least 256 random bits, with the prefix of its kind. */
  newSecret: (kind: SecretKind) => string;
};

export type SecretKind = "access_token" | "refresh_token" | "authorization_code" | "device_code";

/** An instance as OpenID Connect sees it, and the request that is being answered. */
export type At = {
  instanceId: string;
  issuer: string;
  requestId: string;
  /** What the request tells of where it comes from, for the log alone; the service's own work comes from nowhere. */
  where?: { address: string; browser: string; system: string };
};

export type GrantType =
  | "authorization_code"
  | "implicit"
  | "refresh_token"
  | "device_code"
  | "token_exchange";
export type ResponseType = "code" | "id_token" | "id_token token";
export type AuthMethod = "basic" | "post" | "none" | "private_key_jwt";

/** An app of the instance. Those of kind `api` only check tokens. */
export type Client = {
  appId: string;
  clientId: string;
  name: string;
  kind: "oidc" | "api";
  projectId: string;
  organizationId: string;
  authMethod: AuthMethod;
  redirectUris: readonly string[];
  /** Those that are registered but do not fit the type of the app: they work in development mode only. */
  refusedRedirectUris: readonly string[];
  postLogoutRedirectUris: readonly string[];
  responseTypes: readonly ResponseType[];
  grantTypes: readonly GrantType[];
  /** Whether access tokens are JWTs (RFC 9068) or opaque. */
  accessTokenType: "bearer" | "jwt";
  /** The project wants its roles in every userinfo. */
  projectRoleAssertion: boolean;
  accessTokenRoleAssertion: boolean;
  idTokenRoleAssertion: boolean;
  idTokenUserinfoAssertion: boolean;
  /** How far the clock of the client may be ahead: `nbf` and `iat` are set back by it. */
  clockSkewMs: number;
  idTokenAlg: string;
  /** Where it wants to be told of logouts; empty for none. */
  backChannelLogoutUri: string;
  /** Assertions must name the issuer; the address of the token endpoint does not do (RFC 7523bis). */
  strictAssertionAudience: boolean;
  /** What its tokens may do at the service's own APIs beyond what people of its organization can give it. */
  apiAccess: (ApiReach & { trusted: boolean }) | undefined;
  /** Who made it, and changed what answers for it, could do everything in the instance. */
  isOwnerMade: boolean;
  /** It had tokens for our APIs before clients needed an access to them. */
  isLegacy: boolean;
};

export interface Clients {
  /** The client, while it, its project and its organization are active. */
  byId(at: At, clientId: string): Awaitable<Client | undefined>;
  /** Whether this is its secret; takes the same time for every wrong one. It is no secret of an unknown client. */
  isSecret(at: At, client: Client | undefined, secret: string): Awaitable<boolean>;
  /** The public key (SPKI in PEM form) that it signs assertions with, unless it has ended. */
  keyOf(at: At, client: Client, kid: string): Promise<string | undefined>;
  /** Takes note that an assertion was verified by the key. */
  keyUsed(at: At, client: Client, kid: string): void;
  /** The client ids of the apps of a project. */
  ofProject(at: At, projectId: string): Awaitable<readonly string[]>;
}

/** A user who is active, and whose organization is. */
export type User = { id: string; organizationId: string };

/** A machine user that is a client by itself. */
export type Machine = User & Pick<Client, "accessTokenType">;

export interface Users {
  byId(at: At, userId: string): Awaitable<User | undefined>;
  /** The machine user whose client id and client secret these are. */
  byClientSecret(at: At, clientId: string, secret: string): Awaitable<Machine | undefined>;
  /** The key with which a machine user signs assertions, and whose it is; unless it has ended. */
  byKeyId(at: At, kid: string): Promise<(Machine & { publicKey: string }) | undefined>;
  /** Takes note that an assertion was verified by the key. */
  keyUsed(at: At, user: User, kid: string): void;
  /** What is known of the user, as claims by name (OpenID Connect Core 1.0 section 5.1): only those that are set. */
  /** `toOrganization`: of the app that is told; an address that is verified only elsewhere is not so to it. */
  claims(at: At, userId: string, toOrganization: string | undefined): Awaitable<StandardClaims>;
  /** `<username>@<primary domain>`. */
  loginName(at: At, userId: string): Awaitable<string>;
  /** The organization a user belongs to. */
  organization(at: At, id: string): Promise<{ id: string; name: string; primaryDomain: string }>;
  /** The organization that a scope names. */
  organizationBy(
    at: At,
    by: { id: string } | { primaryDomain: string },
  ): Promise<{ id: string } | undefined>;
  /** Values by key, in base64url without padding. */
  metadata(at: At, userId: string): Promise<Record<string, string>>;
  /**
   * The roles that active grants give the user in these projects: project id -> role key -> ids of the organizations
   * through which they have it, each with its primary domain.
   */
  roles(at: At, userId: string, projectIds: readonly string[]): Promise<RolesByProject>;
  /** Whether the user may use an app of the project (`authorization_required`, `project_access_required`). */
  mayUse(at: At, user: User, projectId: string): Awaitable<boolean>;
  /**
   * Whether the user may ask for tokens to the project: it is active, and it is the service's own, their
   * organization's, granted to that, or they have a role in it.
   */
  mayAddress(at: At, user: User, projectId: string): Awaitable<boolean>;
  /** Whether the actor holds the permission to act for the subject, and for administrators where the subject is one. */
  mayActFor(at: At, actor: User, subject: User): Promise<boolean>;
}

export type RolesByProject = Record<string, Record<string, Record<string, string>>>;
export type StandardClaims = Readonly<Record<string, unknown>>;

/** Who acts for the subject (RFC 8693 section 4.1); the one who acted before them inside. */
export type Actor = { iss: string; sub: string; act?: Actor };

/** What a request asked of single claims (OpenID Connect Core 1.0 section 5.5). */
export type ClaimsRequest = {
  userinfo?: Record<string, unknown> | undefined;
  id_token?: Record<string, unknown> | undefined;
};

/**
 * What a user allowed a client: everything that is issued stands on it and ends with it. It ends with the session it
 * came from (unless that just expires), with what happens to its user, and when its code or a refresh token is used
 * twice.
 */
export type OidcSession = {
  id: string;
  clientId: string;
  userId: string;
  organizationId: string;
  /** The session in which the user logged in; empty where there is none. */
  sessionId: string;
  scope: readonly string[];
  audience: readonly AudienceRef[];
  /** What it may do at the service's own APIs, where those are in its audience. */
  access: ApiPower | undefined;
  nonce: string | undefined;
  claims: ClaimsRequest | undefined;
  /** When and how the user proved themselves (`auth_time`, `amr`, `acr`); sessions of earlier releases have no `acr`. */
  authTime: Date | undefined;
  amr: readonly string[];
  acr: string | undefined;
  actor: Actor | undefined;
  /** What this came from by token exchange: whose end ends this. */
  parents: readonly Parent[];
};

/**
 * A user, a session, an OIDC session or an access token that something descends from. `userId` names the user where
 * they had logged in for it with a session: a change of their password ends that.
 */
export type Parent = { id: string; userId: string };

/** An access token that was issued and lives. */
export type AccessToken = {
  /** `jti`. */
  id: string;
  clientId: string;
  userId: string;
  /** Empty for tokens that stand for themselves: client credentials and JWT assertions. */
  oidcSessionId: string;
  scope: readonly string[];
  audience: readonly AudienceRef[];
  /** As that of its OIDC session; tokens of machine users have none and all power of their users. */
  access: ApiPower | undefined;
  isJwt: boolean;
  authTime: Date | undefined;
  amr: readonly string[];
  acr: string | undefined;
  actor: Actor | undefined;
  claims: ClaimsRequest | undefined;
  issuedAt: Date;
  expiresAt: Date;
  /** The session in which the user logged in; empty where there is none. */
  sessionId: string;
  parents: readonly Parent[];
};

/** What an authorization code stands for (RFC 6749 section 4.1). */
export type CodeGrant = Omit<OidcSession, "id"> & {
  redirectUri: string;
  codeChallenge: string | undefined;
};

/**
 * What is used up by issuing: it counts once, whoever else tries at the same time (C6). `digest` is what it was
 * found under.
 */
export type Spend =
  | { kind: "code"; digest: string }
  | { kind: "refresh_token"; digest: string }
  | { kind: "device_code"; digest: string; requestId: string }
  | { kind: "assertion"; issuer: string; jti: string; expiresAt: Date };

export type Issue = {
  user: User;
  clientId: string;
  /** The OIDC session: a new one, with the time from when nothing of it can live, one that exists (by its id), or none. */
  session:
    | { open: OidcSession; expiresAt: Date }
    | Pick<OidcSession, "id" | "sessionId" | "actor">
    | undefined;
  accessToken: { value: string; token: AccessToken } | undefined;
  refreshToken: { value: string; idleExpiresAt: Date; expiresAt: Date } | undefined;
  /** An ID token whose audience is kept, as it tells its client alone; by its `jti`. */
  idToken: { id: string; audience: readonly AudienceRef[]; expiresAt: Date } | undefined;
  spend: readonly Spend[];
  /** Who took the place of whom, for the log (RFC 8693). */
  impersonation?: { actor: Actor } | undefined;
};

/**
 * `spent`: something of it was used up already, by whomever; which. `ended`: the session it was for has ended, or its
 * user is not active any more. `taken`: an id that was drawn for it is in use, since another process drew the same.
 */
export type Issued =
  | { outcome: "issued" }
  | { outcome: "taken" }
  | { outcome: "ended" }
  | { outcome: "spent"; by: Spend["kind"] };

/** What a client was given in a session of a user that has not ended; nothing but `openid` where there is none. */
export type Given = { scope: readonly string[]; access: ApiPower | undefined };

export type FoundCode = {
  digest: string;
  grant: CodeGrant;
  expiresAt: Date;
  spentBy: string | undefined;
};

export type FoundRefreshToken = {
  digest: string;
  session: OidcSession;
  isSpent: boolean;
  idleExpiresAt: Date;
  expiresAt: Date;
};

export interface Tokens {
  /**
   * Stores what is issued and uses up what it is issued for: all in one unit that is on disk when it resolves. With
   * another outcome than `issued` nothing is stored.
   */
  issue(at: At, wanted: Issue): Promise<Issued>;
  /** Uses up an assertion for which nothing is issued. False when it was used before. */
  spend(at: At, assertion: Extract<Spend, { kind: "assertion" }>): Promise<boolean>;
  /** Why a token or code is refused that a newer build has made, for the log; undefined for all others. */
  newerFormat(value: string): string | undefined;
  /** A living access token by the exact string; nothing for everything else. */
  accessToken(at: At, value: string): Awaitable<AccessToken | undefined>;
  /** Keeps a code until it expires, and a while beyond to notice when it is used twice. */
  storeCode(at: At, value: string, grant: CodeGrant, expiresAt: Date): Promise<void>;
  /** A code that was issued; `spentBy` is the OIDC session that came of it. */
  code(at: At, value: string): Promise<FoundCode | undefined>;
  /** A refresh token of a session that has not ended. `isSpent`: a newer one took its place. */
  refreshToken(at: At, value: string): Promise<FoundRefreshToken | undefined>;
  /** Ends an OIDC session with all that stands on it; nothing if it has ended. */
  endSession(at: At, id: string, reason: EndReason): Promise<void>;
  /** Revokes an access token alone, a refresh token with its session; by the exact string. Nothing if it is gone. */
  revoke(at: At, value: string): Promise<void>;
  /** The audience that an ID token was issued with, by its `jti`; undefined where none was kept. */
  audienceOfIdToken(at: At, id: string): Promise<readonly AudienceRef[] | undefined>;
  /** What a client was given for a user in a session (`sid`; empty for any), by what of it has not ended. */
  givenTo(at: At, of: { userId: string; clientId: string; sessionId: string }): Promise<Given>;
  /** A session of a user as tokens name it (`sid`), while it has not ended. */
  isSessionAlive(at: At, sessionId: string): Awaitable<boolean>;
}

export type EndReason = "code_reused" | "refresh_token_reused" | "revoked" | "logged_out";

/** A session of a user in this browser, which has not ended. */
export type BrowserSession = {
  id: string;
  user: User;
  /** When they last authenticated, and how. */
  authTime: Date;
  amr: readonly string[];
  /** All that `acr` could say of it, from the strongest down. */
  levels: readonly string[];
};

export interface Browsers {
  /** The living sessions of the browser whose cookies these are, of users who have proven themselves. */
  sessionsOf(at: At, cookies: string): Promise<readonly BrowserSession[]>;
  /** Ends sessions with all that was issued in them; nothing of those that have ended. */
  endSessions(at: At, sessionIds: readonly string[]): Promise<void>;
}

/** A request that is kept while the login works on it, in the one browser that it began in. */
export type KeptRequest = {
  request: AuthorizationRequest;
  /** What the login came to; absent while it has not ended. */
  outcome: { session: BrowserSession } | "denied" | undefined;
};

type Headers = { get(name: string): string | null };
export type Page = { headers: Record<string, string>; body: string };

export interface Interactions {
  /** Whether a session is good enough by the rules of the instance (factors, their age, consent); else what is missing. */
  missing(
    at: At,
    request: AuthorizationRequest,
    session: BrowserSession,
  ): Promise<Missing | undefined>;
  /** Keeps a request for an hour, in the id itself where it is short enough; its id. */
  keep(at: At, request: AuthorizationRequest): Promise<string>;
  /**
   * Leads this browser, and no other from now on, to the page where the login goes on.
   *
   * @param asked the request, and its id where it is kept
   */
  begin(
    at: At,
    asked: { request: AuthorizationRequest; keptAs: string | undefined },
    missing: Missing,
    cookies: string,
  ): Promise<{ location: string; cookies: string[] }>;
  /** A kept request, unless another browser works on it. */
  load(at: At, id: string, cookies: string): Promise<KeptRequest | undefined>;
  /**
   * Uses a kept request up: of two at once one hears true. A request that its id holds, and of which nothing was entered, is as
   * often good as its client's own address would be.
   */
  take(at: At, id: string): Promise<boolean>;
  /** The page for an error that cannot be told to the client. */
  errorPage(
    at: At,
    error: {
      code: string;
      description: string;
      status: number;
      about: "client" | "redirect_uri" | undefined;
    },
    headers: Headers,
  ): Promise<Page>;
  /** The page that posts the answer to the client (OAuth 2.0 Form Post Response Mode). */
  formPostPage(
    at: At,
    redirectUri: string,
    fields: ReadonlyMap<string, string>,
    headers: Headers,
  ): Promise<Page>;
  /** Where logging out is confirmed: keeps what comes after it. */
  confirmLogout(at: At, request: LogoutRequest, cookies: string): Promise<string>;
  /** Where it is told that it is done. */
  loggedOutLocation(at: At): Promise<string>;
}

/** A logout that the user must confirm; the URI is one of the client, proven. */
export type LogoutRequest = { redirectUri: string | undefined; state: string | undefined };
