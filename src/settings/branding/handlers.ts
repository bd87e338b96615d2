import type { SetBrandingSettings } from "#gen/idsvc/settings/branding/v3alpha/branding_pb.ts";
import type { SetBytes } from "#gen/idsvc/settings/object/v3alpha/object_pb.ts";
import type { OwnCalls } from "../object/calls.ts";
import { logoProperties } from "../policy/logo.ts";
import { keepLogo, toResolvedLogo, wishOf } from "./logo.ts";

/** Logos are kept beside the settings, which tell where they are. */
export const logoCalls: OwnCalls = {
  ownTypes: Object.fromEntries(
    logoProperties.map((property) => [
      property,
      {
        wish: (setter: unknown) => wishOf(property, setter as SetBytes | undefined),
        tell: toResolvedLogo,
      },
    ]),
  ),
  async during(tx, scope, { settings, changed }) {
    const { logo, logoDark } = (settings ?? {}) as Partial<SetBrandingSettings>;
    if (changed.has("logo")) keepLogo(tx, scope, "logo", logo);
    if (changed.has("logo_dark")) keepLogo(tx, scope, "logo_dark", logoDark);
  },
};
