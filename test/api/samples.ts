import assert from "node:assert/strict";
import type { DescService } from "@bufbuild/protobuf";
import { services as clientServices } from "#gen/client_services.ts";
import { modules } from "../../src/app/modules.ts";
import { actionSamples } from "./samples/action.ts";
import { appSamples } from "./samples/app.ts";
import { authSamples } from "./samples/auth.ts";
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
import { makes, plainSamples } from "./samples/plain.ts";
import { sessionSamples } from "./samples/session.ts";
import { userSamples } from "./samples/user.ts";
import { signInSamples } from "./samples/sign-in.ts";
import { settingsSamples } from "./samples/settings.ts";
import type { Sample } from "./samples/sample.ts";
import { userSchemaSamples } from "./samples/userschema.ts";
import { webKeySamples } from "./samples/webkey.ts";

export { condition } from "./samples/action.ts";
export { makeWorld } from "./samples/sample.ts";

/** Every service of the schema. */
export const services: readonly DescService[] = Object.values(clientServices);

const features = {
  multitenancy_resources_api: true,
  multitenancy_settings: true,
  oidc_token_exchange: true,
};

/** A sample of every unary method of every service, by path; streams have tests of their own. */
export const samples: Readonly<Record<string, Sample>> = withPlain({
  ...actionSamples,
  ...appSamples,
  ...authSamples,
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
  ...sessionSamples,
  ...settingsSamples,
  ...signInSamples,
  ...userSamples,
  ...userSchemaSamples,
  ...webKeySamples,
});

/** Declared resources of whose services there are no samples have those that follow from the schema. */
function withPlain(own: Readonly<Record<string, Sample>>): Readonly<Record<string, Sample>> {
  const sampled = new Set(Object.keys(own).map((path) => path.split("/")[1]));
  const declared = modules(features).flatMap(({ resources = [] }) => resources);
  const plain = declared.flatMap((resource) => {
    const service = services.find((each) => makes(each, resource));
    assert.ok(service !== undefined, `a service makes a ${resource.name}`);
    return sampled.has(service.typeName) ? [] : [plainSamples(resource, service)];
  });
  return Object.assign({}, own, ...plain);
}
