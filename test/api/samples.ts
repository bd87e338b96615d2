import type { DescService } from "@bufbuild/protobuf";
import { ManagementService } from "#gen/idsvc/management/v1/management_service_pb.ts";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { DeliveryService } from "#gen/idsvc/resources/action/v3alpha/delivery_service_pb.ts";
import { ConsentService } from "#gen/idsvc/resources/consent/v3alpha/consent_service_pb.ts";
import { DomainService } from "#gen/idsvc/resources/domain/v3alpha/domain_service_pb.ts";
import { ProjectGrantService } from "#gen/idsvc/resources/grant/v3alpha/project_grant_service_pb.ts";
import { RoleService } from "#gen/idsvc/resources/grant/v3alpha/role_service_pb.ts";
import { UserGrantService } from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { IdentityProviderService } from "#gen/idsvc/resources/idp/v3alpha/identity_provider_service_pb.ts";
import { InstanceService } from "#gen/idsvc/resources/instance/v3alpha/instance_service_pb.ts";
import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { SMSProviderService } from "#gen/idsvc/resources/sms/v3alpha/sms_provider_service_pb.ts";
import { SMTPProviderService } from "#gen/idsvc/resources/smtp/v3alpha/smtp_provider_service_pb.ts";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { UserSchemaService } from "#gen/idsvc/resources/userschema/v3alpha/user_schema_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { WebKeyService } from "#gen/idsvc/resources/webkey/v3alpha/web_key_service_pb.ts";
import { BrandingSettingsService } from "#gen/idsvc/settings/branding/v3alpha/branding_settings_service_pb.ts";
import { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import { LanguageService } from "#gen/idsvc/settings/language/v3alpha/language_service_pb.ts";
import { LoginSettingsService } from "#gen/idsvc/settings/login/v3alpha/login_settings_service_pb.ts";
import { OIDCSettingsService } from "#gen/idsvc/settings/oidc/v3alpha/oidc_settings_service_pb.ts";
import { PasswordSettingsService } from "#gen/idsvc/settings/password/v3alpha/password_settings_service_pb.ts";
import { TextSettingsService } from "#gen/idsvc/settings/text/v3alpha/text_settings_service_pb.ts";
import { SecuritySettingsService } from "#gen/idsvc/settings/security/v3alpha/security_settings_service_pb.ts";
import { actionSamples } from "./samples/action.ts";
import { appSamples } from "./samples/app.ts";
import { consentSamples } from "./samples/consent.ts";
import { credentialSamples } from "./samples/credential.ts";
import { deliverySamples } from "./samples/delivery.ts";
import { domainSamples } from "./samples/domain.ts";
import { eventSamples } from "./samples/event.ts";
import { featureSamples } from "./samples/feature.ts";
import { grantSamples } from "./samples/grant.ts";
import { idpSamples } from "./samples/idp.ts";
import { idpLoginSamples } from "./samples/idp-login.ts";
import { instanceSamples } from "./samples/instance.ts";
import { managementSamples } from "./samples/management.ts";
import { membershipSamples } from "./samples/membership.ts";
import { messageProviderSamples } from "./samples/message-providers.ts";
import { organizationSamples } from "./samples/organization.ts";
import { passwordSettingsSamples } from "./samples/password-settings.ts";
import { textSettingsSamples } from "./samples/text-settings.ts";
import { projectSamples } from "./samples/project.ts";
import { sessionSamples } from "./samples/session.ts";
import { userSamples } from "./samples/user.ts";
import { settingsSamples } from "./samples/settings.ts";
import type { Sample } from "./samples/sample.ts";
import { userSchemaSamples } from "./samples/userschema.ts";
import { webKeySamples } from "./samples/webkey.ts";

export { condition } from "./samples/action.ts";
export { makeWorld } from "./samples/sample.ts";

/** Every service of the schema. */
export const services: readonly DescService[] = [
  ActionService,
  AppService,
  BrandingSettingsService,
  ConsentService,
  DeliveryService,
  DomainService,
  EventService,
  FeatureService,
  IdentityProviderService,
  InstanceService,
  LanguageService,
  LoginSettingsService,
  ManagementService,
  MembershipService,
  OIDCSettingsService,
  OrganizationService,
  PasswordSettingsService,
  TextSettingsService,
  ProjectGrantService,
  ProjectService,
  RoleService,
  SecuritySettingsService,
  SMSProviderService,
  SMTPProviderService,
  SessionService,
  UserGrantService,
  UserSchemaService,
  UserService,
  WebKeyService,
];

/** A sample of every unary method of every service, by path; streams have tests of their own. */
export const samples: Readonly<Record<string, Sample>> = {
  ...actionSamples,
  ...appSamples,
  ...consentSamples,
  ...credentialSamples,
  ...deliverySamples,
  ...domainSamples,
  ...eventSamples,
  ...featureSamples,
  ...grantSamples,
  ...idpSamples,
  ...idpLoginSamples,
  ...instanceSamples,
  ...managementSamples,
  ...membershipSamples,
  ...messageProviderSamples,
  ...organizationSamples,
  ...passwordSettingsSamples,
  ...textSettingsSamples,
  ...projectSamples,
  ...sessionSamples,
  ...settingsSamples,
  ...userSamples,
  ...userSchemaSamples,
  ...webKeySamples,
};
