import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { service } from "../../authz/service.ts";
import { resourceModule } from "../object/module.ts";
import { appResource } from "./application.ts";
import { appAuthorize, appHandlers } from "./handlers.ts";
import { keyHandlers } from "./key-handlers.ts";
import { legacyJobs } from "./legacy.ts";
import { formerAccessProjection } from "./former-access.ts";
import { appsGoWithProject, removeContentsOfApps } from "./remove-apps.ts";

export { addApp, addKey } from "./app.ts";
export { app, appEvents, appNotFound, appResource, apps, oidcConfigured } from "./application.ts";
export { formerAudience } from "./former-access.ts";
export { appKeys } from "./rows.ts";
export { toGetApp, toSoundConfig } from "./convert.ts";
export { isClientSecretOf } from "./credentials.ts";
export type { AppConfig } from "./config.ts";
export {
  endLegacyAccess,
  type LegacyApp,
  legacyApps,
  legacyEnding,
  legacyEndings,
} from "./legacy.ts";
export { appSearch, appsWhere } from "./queries.ts";
export { appReader } from "./readers.ts";

/**
 * Apps: what users log in to, and what checks their tokens.
 * @param former what tells of tokens and consents from before apps had an access to our APIs
 */
export const appModule = (...former: Parameters<typeof formerAccessProjection>) =>
  resourceModule([appResource], {
    projections: [formerAccessProjection(...former)],
    services: (deps) => [
      service(AppService, { ...appHandlers(deps), ...keyHandlers(deps) }, appAuthorize(deps)),
    ],
    jobs: legacyJobs,
    reactions: (parts) => [appsGoWithProject(parts)],
    contents: removeContentsOfApps,
  });
