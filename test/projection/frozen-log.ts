import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { modules } from "../../src/app/modules.ts";
import type { Aggregate } from "../../src/eventstore/aggregate.ts";
import type { OwnerRef } from "../../src/eventstore/event.ts";
import {
  accessToken,
  deviceAuthorization,
  oidcSession,
  refreshToken,
} from "../../src/oidc/store/events.ts";
import { consent } from "../../src/resources/consent/index.ts";
import { logout } from "../../src/oidc/store/logouts.ts";
import { execution } from "../../src/resources/action/execution/execution.ts";
import { idp } from "../../src/resources/idp/idp.ts";
import { idpIntent } from "../../src/resources/idp/intent/intent.ts";
import { idpPolicies } from "../../src/resources/idp/projection.ts";
import { instance, limits } from "../../src/resources/instance/instance.ts";
import { ownerWarning } from "../../src/resources/membership/owner-warnings.ts";
import { membership } from "../../src/resources/membership/membership.ts";
import { providerAggregate } from "../../src/resources/messageprovider/provider.ts";
import { session } from "../../src/resources/session/session.ts";
import { smsKind } from "../../src/resources/sms/config.ts";
import { smtpKind } from "../../src/resources/smtp/config.ts";
import { smtp } from "../../src/resources/smtp/config.ts";
import { metadata, user } from "../../src/resources/user/index.ts";
import { userNotices } from "../../src/resources/user/notice-events.ts";
import { checks } from "../../src/resources/user/check/attempts.ts";
import { brandingSettings } from "../../src/settings/policy/branding.ts";
import { featureSettings } from "../../src/settings/feature/feature.ts";
import { languageSettings } from "../../src/settings/policy/language.ts";
import { loginSettings } from "../../src/settings/policy/login.ts";
import { oidcSettings } from "../../src/settings/oidc/oidc.ts";
import { passwordSettings } from "../../src/settings/password/password.ts";
import { textSettings } from "../../src/settings/policy/text.ts";
import { securitySettings } from "../../src/settings/security/security.ts";

/**
 * A stream as an earlier build stored it, with what it folded to. `payload` is what stood in the log, sealed where it
 * tells of a person; `secrets` hold the keys that open it, below the master key of 32 sevens.
 */
export type FrozenStream = {
  instanceId: string;
  aggregate: string;
  id: string;
  owner: OwnerRef;
  secrets: {
    ownerType: string;
    ownerId: string;
    kind: string;
    id: string;
    keyId: string;
    sealed: string;
  }[];
  events: { type: string; revision: number; createdAt: string; payload: unknown }[];
  /** Null for an object that is gone. */
  state: unknown;
  /** By table; tables that stay empty are left out. 64-bit numbers are texts. */
  rows: Record<string, unknown[]>;
};

export const masterKey = Buffer.alloc(32, 7).toString("base64");

export const folder = resolve(import.meta.dirname, "../fixtures/events");

/** Every frozen stream, by the name of its file. */
export const frozenStreams: ReadonlyMap<string, FrozenStream> = new Map(
  readdirSync(folder)
    .toSorted()
    .map((file) => [file, JSON.parse(readFileSync(join(folder, file), "utf8"))]),
);

// oxlint-disable-next-line no-explicit-any -- each aggregate takes its own events; here they come from a file.
type AnyAggregate = Aggregate<unknown, any>;

const features = {
  multitenancy_resources_api: true,
  multitenancy_settings: true,
  oidc_token_exchange: true,
};
const declared = modules(features).flatMap(({ resources = [] }) => resources);

/** Every aggregate of the service, by its type. */
export const aggregates: ReadonlyMap<string, AnyAggregate> = new Map(
  [
    instance,
    limits,
    membership,
    ownerWarning,
    user,
    metadata,
    session,
    checks,
    execution,
    featureSettings.aggregate,
    passwordSettings.aggregate,
    textSettings.aggregate,
    oidcSettings.aggregate,
    loginSettings.aggregate,
    securitySettings.aggregate,
    brandingSettings.aggregate,
    languageSettings.aggregate,
    oidcSession,
    accessToken,
    refreshToken,
    deviceAuthorization,
    ...declared.map(({ aggregate }) => aggregate),
    logout,
    consent,
    userNotices,
    idp,
    idpPolicies.aggregate,
    idpIntent,
    providerAggregate(smtpKind),
    smtp.storage.policies.aggregate,
    providerAggregate(smsKind),
  ].map((each): [string, AnyAggregate] => [each.type, each as AnyAggregate]),
);
