import { TextSettingsService } from "#gen/idsvc/settings/text/v3alpha/text_settings_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";

import { textSettingsHandlers } from "./handlers.ts";
import { textSettings } from "../policy/text.ts";

/** What people read. */
export const textSettingsModule: Module = {
  events: [textSettings.events],
  projections: [textSettings.projection],
  services: (deps) => {
    const check = deps.tenancy.requireOnContext;
    return [
      service(TextSettingsService, textSettingsHandlers(deps), {
        setTexts: check,
        resolveTexts: check,
      }),
    ];
  },
};
