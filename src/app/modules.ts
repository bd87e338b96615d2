import type { Module } from "../projection/module.ts";
import { actionModule } from "../resources/action/index.ts";
import { instanceEvents, instanceModule } from "../resources/instance/index.ts";
import { membershipModule } from "../resources/membership/index.ts";
import { organizationModule } from "../resources/org/index.ts";
import { projectModule } from "../resources/project/index.ts";
import { userModule, users } from "../resources/user/index.ts";
import { userSchemaModule } from "../resources/userschema/index.ts";
import { type FeatureDefaults, featureModule } from "../settings/feature/index.ts";
import { settingsTables } from "../settings/object/settings.ts";

/** Every slice of the service; a new one is one line here. */
export const modules = (features: FeatureDefaults): Module[] => [
  instanceModule,
  organizationModule,
  projectModule,
  userModule,
  userSchemaModule({ instanceEvents, users }),
  membershipModule,
  actionModule,
  { events: [], projections: [settingsTables] },
  featureModule(features),
];
