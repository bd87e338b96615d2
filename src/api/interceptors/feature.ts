import { whenKnown } from "../../awaitable.ts";
import { failedPrecondition } from "../../errors.ts";
import type { InterceptorFactory } from "../call.ts";
import type { Ports } from "./index.ts";

/**
 * Refuses methods behind a feature flag that is off (B6).
 *
 * @throws FAILED_PRECONDITION FEATURE_DISABLED
 */
export const feature =
  ({ features }: Ports): InterceptorFactory =>
  ({ feature: flag }) => {
    if (flag === "") return undefined;
    const require = (isOn: boolean): void => {
      if (isOn) return;
      throw failedPrecondition(
        "FEATURE_DISABLED",
        `the feature ${flag} is switched off: PATCH /settings/v3alpha/features switches it on`,
        { metadata: { feature: flag } },
      );
    };
    return {
      check: (call) => whenKnown(features.isOn(call.instanceId, flag), require),
    };
  };
