import { version } from "../build.ts";
import { type UserPorts, users } from "../resources/user/index.ts";
import type { DomainPorts } from "../resources/domain/index.ts";
import { countIn, type InstancePorts } from "../resources/instance/index.ts";
import { policyOf } from "../api/method-rule.ts";
import type { AuthPorts } from "../resources/auth/index.ts";
import type { ActionPorts } from "../resources/action/index.ts";
import type { ImportPorts } from "../management/index.ts";
import type { Judge } from "../api/validation.ts";
import type { ShareBuckets } from "../authz/buckets.ts";
import { createBudgets } from "../authz/budgets.ts";
import type { createEgressClient } from "../egress/client.ts";
import { checkTargetUrl, type egressAllowInForce } from "../egress/url-guard.ts";
import { createFederation } from "../federation/index.ts";
import { type OidcPorts, tokensInName } from "../oidc/store/index.ts";
import type { Deps } from "../projection/module.ts";
import { appReader, isClientSecretOf } from "../resources/app/index.ts";
import { createIdpIntents, idpReader, type IntentPorts } from "../resources/idp/index.ts";
import { createFollowers, type createRefusals, type EventPorts } from "../resources/event/index.ts";
import { projectGrantsOf, userGrantsOf } from "../resources/grant/index.ts";
import { membershipReader } from "../resources/membership/index.ts";
import type { createCredentialUses } from "../resources/object/credential-uses.ts";
import {
  organizationReader,
  organizations as allOrganizations,
  organizationTenancy,
} from "../resources/org/index.ts";
import { schemasOfUsers } from "../resources/userschema/index.ts";
import { webKeysOf } from "../resources/webkey/index.ts";
import type { SetupPorts } from "../setup/index.ts";
import { sessionMakers } from "../resources/session/index.ts";
import { featureReader } from "../settings/feature/index.ts";
import { oidcSettingsReader } from "../settings/oidc/index.ts";
import { current } from "../storage/read-cache.ts";
import { createBreachScreen } from "./breached-passwords.ts";
import type { Config } from "./config.ts";
import { createDomainProof } from "./domain-proof.ts";
import type { Kernel } from "./kernel.ts";
import { beginsOf } from "./begin.ts";
import { policiesOf } from "./policies.ts";
import { messageReader } from "./read-message.ts";
import type { Siblings } from "./siblings.ts";

type Made = {
  allow: ReturnType<typeof egressAllowInForce>;
  outside: ReturnType<typeof createEgressClient>;
  budgets: ReturnType<typeof createBudgets>;
  validator: Judge;
  uses: ReturnType<typeof createCredentialUses>;
  refusals: ReturnType<typeof createRefusals>;
  /** The paths of the methods that are served. */
  served: () => readonly string[];
};

/** What all slices ask of the service together. */
export type ServiceDeps = Deps &
  UserPorts &
  IntentPorts &
  OidcPorts &
  DomainPorts &
  InstancePorts &
  EventPorts &
  ActionPorts &
  AuthPorts &
  ImportPorts &
  SetupPorts;

/** What slices may use of the kernel. */
export function depsOf(
  kernel: Kernel,
  { allow, outside, budgets, validator, uses, refusals, served }: Made,
): ServiceDeps {
  const { config, db, events, logger, secrets, now, newId, featureDefaults } = kernel;
  const organizations = organizationReader(db);
  const memberships = membershipReader(db);
  const apps = appReader(db);
  // What callers are told must be as new as what any replica has acknowledged.
  const currentOrganizations = {
    byId: current(db, organizations.byId),
    byDomain: current(db, organizations.byDomain),
  };
  const features = featureReader(db, featureDefaults);
  const idps = idpReader(db, features);
  const ofIntents = {
    budgets,
    features,
    federation: createFederation({ egress: outside, now }),
    noteRefusal: refusals.note,
  };
  return {
    ...ofIntents,
    intents: createIdpIntents({ db, events, secrets, now, newId, ...ofIntents }),
    isIdpActive: async (...asked) => (await idps.effectiveState(...asked)) === "active",
    noteUse: uses.note,
    sessionMakers: sessionMakers({ db, secrets, now }),
    tokensInName: tokensInName({ db }),
    userSchemas: schemasOfUsers(db),
    db,
    events,
    secrets,
    tenancy: organizationTenancy(db, currentOrganizations),
    organizations: currentOrganizations,
    memberships,
    apps,
    clientApps: {
      ...apps,
      isSecretOf: (app, secret) => isClientSecretOf(secrets, app, secret),
    },
    projectGrants: projectGrantsOf(db, memberships),
    userGrants: userGrantsOf(db, memberships),
    policies: policiesOf(db),
    webKeys: webKeysOf({ db, newId, secrets }),
    timesOf: oidcSettingsReader(db),
    makeMember: kernel.makeMember,
    beginInstance: () => beginsOf(kernel),
    newId,
    version,
    countObjects: async (instanceId) => ({
      users: (await countIn(db, users, instanceId)).rows,
      organizations: (await countIn(db, allOrganizations, instanceId)).rows,
    }),
    now,
    limits: {
      listDefault: config.listLimitDefault,
      listMax: config.listLimitMax,
      historyDefault: config.historyLimitDefault,
      historyMax: config.historyLimitMax,
    },
    followers: createFollowers({ ofCaller: config.followersPerCaller, inAll: config.followers }),
    proveDomain: createDomainProof(outside),
    isBreached: createBreachScreen({
      file: config.breachedPasswordsFile,
      url: config.breachedPasswordsUrl,
      outside,
      logger,
    }),
    egress: outside,
    ...messageReader(validator),
    policyOf,
    checkUrl: (url, field) => checkTargetUrl(url, allow, field),
    registry: {
      methods: served,
      services: () => [...new Set(served().map((path) => path.slice(1, path.lastIndexOf("/"))))],
    },
  };
}

export const budgetsOf = (config: Config, siblings: Siblings, share: ShareBuckets) =>
  createBudgets(
    {
      guesses: config.budgetGuesses,
      messages: config.budgetMessages,
      recipientMessages: config.budgetRecipientMessages,
      senderMessages: config.budgetSenderMessages,
      registrations: config.budgetRegistrations,
      flows: config.budgetFlows,
      unauthenticated: config.budgetUnauthenticated,
      connections: partOf(siblings, config.budgetConnections),
    },
    share,
  );

/** The part of one process in what all that serve together may have; connections are handed to them in turn. */
export const partOf = ({ count }: Siblings, all: number): number => Math.ceil(all / count);
