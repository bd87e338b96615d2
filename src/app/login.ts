import { whenKnown } from "../awaitable.ts";
import type { CallForPerson, CallService } from "../authz/service.ts";
import { accountRoutes } from "../account/index.ts";
import type { DeviceApproval } from "../oidc/core/device-approval.ts";
import type { ServiceDeps } from "./deps.ts";
import type { PlaceOf } from "./places.ts";
import { signIns } from "./sign-ins.ts";
import { allowedApps } from "./allowed-apps.ts";
import { grantedRoles } from "./granted-roles.ts";
import { createIdpLogins } from "../resources/idp/index.ts";
import { demandReader, sessionCaller, stepUp } from "../resources/session/index.ts";
import { brandingReader } from "../settings/policy/branding.ts";
import { languageReader } from "../settings/policy/language.ts";
import { loginSettingsReader } from "../settings/policy/login.ts";
import { textReader } from "../settings/policy/text.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createLogin, type LoginFunctions, type LoginPorts } from "../login/index.ts";
import type { DevelopmentMail } from "../notify/index.ts";
import { linkedUserReader, user } from "../resources/user/index.ts";
import { instanceFacts } from "../resources/instance/index.ts";

export { pathOfNotice, recoverPath } from "../login/index.ts";

/** The login, over the slices of the service. */
export function openLogin(
  deps: ServiceDeps,
  parts: {
    call: CallService;
    callForPerson: CallForPerson;
    consents: LoginPorts["consents"];
    devices: DeviceApproval;
    functions: LoginFunctions;
    developmentMail: DevelopmentMail | undefined;
    placeOf: PlaceOf;
    logger: Logger;
  },
): ReturnType<typeof createLogin> {
  const { apps, db, events, secrets, organizations, memberships, policies, newId, now } = deps;
  const policy = loginSettingsReader(db);
  const branding = brandingReader(db);
  const languages = languageReader(db);
  const ownTexts = textReader(db);
  const demanded = demandReader(deps);
  const instance = instanceFacts(db);

  const ofAccount = {
    callForPerson: parts.callForPerson,
    callerOf: sessionCaller(deps, "browser"),
    requireStepUp: stepUp(deps).require,
    placeOf: parts.placeOf,
    signIns,
    allowedApps,
    grantedRoles,
  };

  const ports: LoginPorts = {
    db,
    events,
    secrets,
    organizations,
    memberships,
    newId,
    now,
    deps,
    call: parts.call,
    consents: parts.consents,
    intents: createIdpLogins(deps, linkedUserReader(deps)),
    devices: parts.devices,
    functions: parts.functions,
    policyOf: async ({ instanceId, organizationId }) => policy(instanceId, organizationId),
    demandOf: (instanceId, who) =>
      whenKnown(demanded(instanceId, who), async (demand) => {
        const { state } = await events.load(user, instanceId, who.id);
        return state?.owesSecondFactor === true ? { ...demand, forceMfa: true } : demand;
      }),
    async passwordRulesOf({ instanceId, organizationId }) {
      const home = organizationId ?? (await instance(instanceId)).defaultOrganizationId;
      return policies.passwords(instanceId, home);
    },
    async brandingOf({ instanceId, organizationId }) {
      const { logo, logoDark, ...look } = await branding(instanceId, organizationId);
      return {
        ...look,
        ...(logo && { logo: logo.path }),
        ...(logoDark && { logoDark: logoDark.path }),
      };
    },
    languagesOf: async ({ instanceId, organizationId }) => languages(instanceId, organizationId),
    textsOf: ({ instanceId, organizationId }, language) =>
      ownTexts(instanceId, organizationId, language),
    tellTextsLeftOut: textsLeftOut(parts.logger),
    frameOriginsOf: async ({ instanceId, organizationId }) =>
      (await policies.security(instanceId, organizationId)).allowedFrameOrigins,
    async appOf(instanceId, clientId) {
      return apps.byClientId(instanceId, clientId);
    },
    developmentMail: parts.developmentMail,
  };
  return createLogin(ports, [(routeParts) => accountRoutes({ ...routeParts, ...ofAccount })]);
}

const mostRemembered = 1_000;

/** Has it in the log once for each page, language and tenant; the same may be there again after a thousand others. */
function textsLeftOut(logger: Logger): LoginPorts["tellTextsLeftOut"] {
  const logged = new Set<string>();
  return ({ instanceId, organizationId }, { path, language }) => {
    const key = [instanceId, organizationId, path, language].join(" ");
    if (logged.has(key)) return;
    if (logged.size >= mostRemembered) logged.clear();
    logged.add(key);
    logger.warn(
      { instanceId, organizationId, path, language },
      "a page is shown with the shipped texts: with those that are set it would have more than 30 KB",
    );
  };
}
