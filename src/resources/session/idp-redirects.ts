import { invalidField } from "../../errors.ts";
import type { Deps } from "../../projection/module.ts";
import { ownPages } from "../app/index.ts";

/**
 * Refuses addresses that a browser must not be sent to with the proof of a login: all but pages of the service itself, and
 * of origins that an active app of the instance has.
 *
 * @throws INVALID_ARGUMENT IDP_REDIRECT_DENIED
 */
export function redirectGuard({ db }: Pick<Deps, "db">) {
  const isOwnPage = ownPages(db);
  return async (instanceId: string, url: string, field: string): Promise<void> => {
    if (await isOwnPage(instanceId, url)) return;
    throw invalidField(
      field,
      "IDP_REDIRECT_DENIED",
      "must be of the service itself, or of an origin that an active app of the instance has",
    );
  };
}
