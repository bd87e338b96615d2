import type { IntentProof, Said, UserDeps } from "../resources/user/index.ts";
import type { CallService } from "../authz/service.ts";
import type { JsonObject } from "@bufbuild/protobuf";
import type { At } from "../oidc/core/ports.ts";
import type { DeviceApproval } from "../oidc/core/device-approval.ts";
import type { Deps } from "../projection/module.ts";
import type { Awaitable } from "../awaitable.ts";
import type { OwnerRef } from "../eventstore/event.ts";
import type { Transaction, WriteContext } from "../eventstore/transaction.ts";
import type { Answer, ProviderConfig, Way } from "../federation/index.ts";
import type { FoundApp } from "../authz/apps.ts";
import type { DemandReader } from "../resources/session/index.ts";
import type { LoginPolicy } from "../settings/policy/login.ts";
import type { PasswordPolicy } from "../authz/policies.ts";
import type { Branding } from "./branding.ts";
import type { Language } from "../texts/languages.ts";
import type { OwnTexts } from "../texts/texts.ts";
import type { AccessChoice } from "./parts/access.ts";

/** An instance, and an organization where the login is bound to one: whose settings count. */
export type Tenant = { instanceId: string; organizationId: string | undefined };

/**
 * What executions do at the points of the login (X12).
 * Each throws a refusal when a target with `interrupt_on_error` does not let it pass.
 */
export type LoginFunctions = {
  /** Somebody has proven who they are; they are not let in yet. */
  authenticated(at: At, user: { id: string; organizationId: string }): Promise<void>;
  /** Somebody is about to get an account; what it gives keeps the values of targets with it, once it is made. */
  creating(at: At, user: JsonObject): Promise<(userId: string) => Promise<void>>;
  created(at: At, user: { id: string; organizationId: string }): Promise<void>;
};

type User = { id: string; organizationId: string };

/** What is asked of consents: what a person is asked before an app gets what it asks for, and what they answered. */
export type Consents = {
  /** Whether the person must be asked before the app gets what it asks for (J5). */
  isDue(
    instanceId: string,
    user: User,
    app: FoundApp,
    request: { scope: readonly string[]; prompt?: readonly string[] },
  ): Promise<boolean>;
  /**
   * What the person is asked for: how much of their power they can give the app, the least first, where it asks for our own
   * APIs; and the other words of the scope.
   */
  asked(
    instanceId: string,
    user: User,
    app: FoundApp,
    scope: readonly string[],
  ): Promise<{ choices: readonly AccessChoice[]; others: readonly string[] }>;
  /** What of a scope is beside our own APIs, which are told of in words. */
  besideOwnApi(instanceId: string, scope: readonly string[]): Promise<readonly string[]>;
  /** Records what the person allowed; of what was not offered, the least. */
  give(
    at: WriteContext,
    user: User,
    app: FoundApp,
    given: { scope: readonly string[]; choice: string },
  ): Promise<void>;
};

export type ProviderType = ProviderConfig["type"];

/** An identity provider as a page offers it. */
export type OfferedProvider = {
  id: string;
  name: string;
  type: ProviderType;
  /** Where its mark is; absent where there is none. */
  markPath?: string;
};

/** An identity provider as a login uses it. */
export type LoginProvider = {
  id: string;
  name: string;
  type: ProviderType;
  owner: OwnerRef;
  /** What happens when somebody logs in with an account that nobody here has. */
  options: {
    isLinkingAllowed: boolean;
    isCreationAllowed: boolean;
    isAutoCreation: boolean;
    isAutoUpdate: boolean;
    autoLinking: "none" | "username" | "email";
  };
};

/** A login with a provider that succeeded: who it was there, and which user has that account. */
export type ProviderSuccess = Said & {
  userId: string | undefined;
  /** For login pages of somebody's own; what a hosted login goes by is its flow. */
  token: string;
};

type IntentAt = WriteContext & { issuer: string };

/** A login that waits for the answer of its provider. */
export type WaitingLogin = {
  id: string;
  idpId: string;
  /** The flow that it belongs to; empty where a login page of somebody's own began it, which waits at these addresses. */
  flowId: string;
  successUrl: string;
  failureUrl: string;
  /**
   * Judges the answer, once.
   *
   * @throws NOT_FOUND IDP_UNKNOWN; FAILED_PRECONDITION IDP_INTENT_SPENT, IDP_INACTIVE, IDP_ANSWER_INVALID, IDP_DENIED,
   * UNAVAILABLE IDP_UNAVAILABLE
   */
  answer(at: IntentAt, received: Omit<Answer, "baseUrl">): Promise<ProviderSuccess>;
};

type Wanted = {
  idpId: string;
  /** The organization whose view of the provider counts; absent for the instance. */
  organizationId: string | undefined;
  goesOn: { flowId: string };
};

/**
 * What is asked of identity providers: which can be chosen, logins with them, and what those are used for, each once
 * (specification 11.4). A provider must be active for whom the login is at each step (E5).
 */
export type ProviderLogins = {
  /** Those that can be chosen in an organization, or in the instance itself, by name. */
  offered(
    instanceId: string,
    organizationId: string | undefined,
  ): Promise<readonly OfferedProvider[]>;
  /** A provider, active or not. */
  provider(instanceId: string, idpId: string): Awaitable<LoginProvider | undefined>;
  /** Whether users of an organization, or of no certain one, may log in with a provider. */
  isActive(instanceId: string, organizationId: string | undefined, idpId: string): Promise<boolean>;
  /** @throws NOT_FOUND IDP_UNKNOWN; FAILED_PRECONDITION IDP_INACTIVE */
  requireIdp(
    instanceId: string,
    organizationId: string | undefined,
    idpId: string,
  ): Promise<{ idp: LoginProvider }>;
  /** @throws as `requireIdp`, FAILED_PRECONDITION IDP_CONFIG_INVALID; UNAVAILABLE IDP_UNAVAILABLE */
  begin(
    at: IntentAt,
    wanted: Wanted & { isFresh: boolean; loginHint?: string | undefined },
  ): Promise<{ way: Way }>;
  /** The login that waits for an answer with this state. */
  waiting(instanceId: string, state: string): Promise<WaitingLogin | undefined>;
  /**
   * Asks a directory. Undefined where the name or the password is wrong, or there is no such name.
   *
   * @throws as `requireIdp`, FAILED_PRECONDITION IDP_NOT_LDAP; UNAVAILABLE IDP_UNAVAILABLE
   */
  lookUp(
    at: IntentAt,
    wanted: Wanted,
    tried: { username: string; password: string },
  ): Promise<ProviderSuccess | undefined>;
  /** What a provider said, for who can prove that the login was theirs; undefined once it is over or used. */
  said(instanceId: string, proof: IntentProof): Promise<Said | undefined>;
  /**
   * Makes sure that an organization has a provider, active or not, and that it is still there when the unit commits.
   *
   * @throws NOT_FOUND IDP_NOT_FOUND
   */
  hold(
    tx: Transaction,
    at: { instanceId: string; organizationId: string },
    idpId: string,
  ): Promise<void>;
  /** Uses a login up, in the unit of what it is used for. @throws FAILED_PRECONDITION IDP_INTENT_SPENT */
  spend(tx: Transaction, instanceId: string, said: Said, userId: string): Promise<void>;
  /** What a provider of SAML must know of the instance; undefined where there is no such provider. */
  samlMetadata(
    at: { instanceId: string; issuer: string },
    idpId: string,
  ): Promise<string | undefined>;
};

/** A message that a page shows in the place of a mail or a text message. */
export type UnsentMessage = { to: string; subject: string; text: string; sentAt: Date };

/** What the login needs of the rest of the service. */
export type LoginPorts = Pick<
  Deps,
  "db" | "events" | "secrets" | "organizations" | "memberships" | "newId" | "now"
> & {
  deps: UserDeps;
  call: CallService;
  policyOf(tenant: Tenant): Promise<LoginPolicy>;
  /** The same for a user, with what is demanded of them beyond the settings. */
  demandOf: DemandReader;
  passwordRulesOf(tenant: Tenant): Promise<PasswordPolicy>;
  brandingOf(tenant: Tenant): Promise<Branding>;
  languagesOf(tenant: Tenant): Promise<{ allowed: readonly Language[]; default: Language }>;
  /** What is set in the place of shipped texts. */
  textsOf(tenant: Tenant, language: Language): Promise<OwnTexts>;
  /** With the texts that are set a page would be too large: it is shown with the shipped ones. */
  tellTextsLeftOut(tenant: Tenant, page: { path: string; language: Language }): void;
  /** Whose pages may show those of the login in a frame. */
  frameOriginsOf(tenant: Tenant): Promise<readonly string[]>;
  /** The app that waits: what it is called, and what decides what people can give it. */
  appOf(instanceId: string, clientId: string): Promise<FoundApp | undefined>;
  consents: Consents;
  intents: ProviderLogins;
  devices: DeviceApproval;
  functions: LoginFunctions;
  /** The last messages that were not sent, the newest first; only where nobody else can reach the service. */
  developmentMail: { of(instanceId: string): readonly UnsentMessage[] } | undefined;
};
