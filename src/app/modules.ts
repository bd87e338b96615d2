import { consoleModule } from "../console-server/module.ts";
import { executorModule } from "../executor/index.ts";
import { loginModule } from "../login/module.ts";
import { passkeyPage } from "../login/path-of-notice.ts";
import { managementModule } from "../management/index.ts";
import type { Module } from "../projection/module.ts";
import type { ServiceDeps } from "./deps.ts";
import { on } from "../projection/projection.ts";
import {
  endKept,
  endOfApiConsents,
  endOfApp,
  endOfConsent,
  formerTokens,
  oidcModule,
  signedInApps,
  tokenUse,
} from "../oidc/store/index.ts";
import { actionModule } from "../resources/action/index.ts";
import {
  appEvents,
  appModule,
  apps,
  appSearch,
  appsWhere,
  formerAudience,
  oidcConfigured,
} from "../resources/app/index.ts";
import { authModule } from "../resources/auth/index.ts";
import {
  consentEvents,
  consentModule,
  forgetApp,
  formerConsents,
  takeApiAccess,
} from "../resources/consent/index.ts";
import { domainModule, domainPages } from "../resources/domain/index.ts";
import { eventModule } from "../resources/event/index.ts";
import { grantModule, projectGrantEnds } from "../resources/grant/index.ts";
import { createIdpLogins, idpModule } from "../resources/idp/index.ts";
import { instanceModule } from "../resources/instance/index.ts";
import { linkHolders, managedMembers, membershipModule } from "../resources/membership/index.ts";
import { organizationEvents, organizationModule } from "../resources/org/index.ts";
import { projectModule } from "../resources/project/index.ts";
import { smsModule } from "../resources/sms/index.ts";
import { smtpModule } from "../resources/smtp/index.ts";
import { sessionModule } from "../resources/session/index.ts";
import { signInModule } from "../resources/signin/index.ts";
import {
  homesReader,
  linkedUserReader,
  userModule,
  users,
  usersLinkedTo,
} from "../resources/user/index.ts";
import { userSchemaModule } from "../resources/userschema/index.ts";
import { webKeyModule } from "../resources/webkey/index.ts";
import { setupHandlers, setupModule } from "../setup/index.ts";
import { brandingSettingsModule } from "../settings/branding/index.ts";
import { type FeatureDefaults, featureModule } from "../settings/feature/index.ts";
import { languageModule } from "../settings/language/index.ts";
import { loginSettingsModule } from "../settings/login/index.ts";
import { forgetSettings, settingsTables } from "../settings/object/settings.ts";
import { oidcSettingsModule, rotationTimes } from "../settings/oidc/index.ts";
import { passwordSettings, passwordSettingsModule } from "../settings/password/index.ts";
import { securitySettingsModule } from "../settings/security/index.ts";
import { textSettingsModule } from "../settings/text/index.ts";

/**
 * Every slice of the service, those that others stand on first; a new one is one line here. What a slice asks of one above it
 * is handed in.
 */
export const modules = (features: FeatureDefaults): Module<ServiceDeps>[] => [
  {
    events: [],
    projections: [settingsTables(on(organizationEvents, { "org.removed": forgetSettings }))],
  },
  brandingSettingsModule,
  featureModule(features),
  languageModule,
  loginSettingsModule,
  passwordSettingsModule,
  securitySettingsModule,
  textSettingsModule,
  instanceModule(setupHandlers),
  webKeyModule(({ db }) => rotationTimes(db), oidcConfigured),
  oidcSettingsModule,
  userSchemaModule(users),
  organizationModule,
  idpModule(
    (db) => ({
      linkedUsers: (...asked) => usersLinkedTo(db, ...asked),
      apps: (...asked) => appsWhere(db, ...asked),
    }),
    linkHolders,
  ),
  eventModule(homesReader),
  smtpModule,
  smsModule,
  userModule(["instance.idp.removed", "org.idp.removed"]),
  domainModule,
  projectModule,
  grantModule,
  appModule(formerTokens(formerAudience), formerConsents(formerAudience)),
  membershipModule(projectGrantEnds),
  consentModule(
    tokenUse,
    on(appEvents, {
      "project.application.removed": forgetApp,
      "project.application.consents.ended": takeApiAccess,
    }),
  ),
  sessionModule(endKept, (deps) => createIdpLogins(deps, linkedUserReader(deps))),
  signInModule(signedInApps),
  authModule(appSearch),
  actionModule,
  executorModule,
  managementModule(passkeyPage, {
    passwords: passwordSettings,
    domainsOf: domainPages,
    members: managedMembers,
    apps,
  }),
  setupModule,
  loginModule,
  consoleModule,
  oidcModule(
    on(consentEvents, { "user.consent.revoked": endOfConsent }),
    on(appEvents, {
      "project.application.removed": endOfApp,
      "project.application.consents.ended": endOfApiConsents,
    }),
  ),
];
