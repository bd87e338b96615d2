import type { UserDeps } from "../resources/user/index.ts";
import type { CallService } from "../authz/service.ts";
import type { JsonObject } from "@bufbuild/protobuf";
import type { At } from "../oidc/core/ports.ts";
import type { DeviceApproval } from "../oidc/core/device-approval.ts";
import type { Deps } from "../projection/module.ts";
import type { WriteContext } from "../eventstore/transaction.ts";
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
  devices: DeviceApproval;
  functions: LoginFunctions;
  /** The last messages that were not sent, the newest first; only where nobody else can reach the service. */
  developmentMail: { of(instanceId: string): readonly UnsentMessage[] } | undefined;
};
