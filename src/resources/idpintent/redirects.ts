import { invalidField } from "../../errors.ts";
import type { Deps } from "../../projection/module.ts";
import { appReader } from "../app/index.ts";

/**
 * Refuses addresses that a browser must not be sent to with the proof of a login: only pages of the service itself, and of
 * origins that an active app of the instance names, by a redirect or beside these (DECISIONS.md).
 *
 * @throws INVALID_ARGUMENT IDP_REDIRECT_DENIED
 */
export function redirectGuard({ db }: Pick<Deps, "db">) {
  const apps = appReader(db);
  return async (
    { instanceId, issuer }: { instanceId: string; issuer: string },
    url: string,
    field: string,
  ): Promise<void> => {
    const { origin, username, password } = new URL(url);
    const isPlain = username === "" && password === "";
    if (isPlain && (origin === issuer || (await apps.isAllowedOrigin(instanceId, origin)))) return;
    throw invalidField(
      field,
      "IDP_REDIRECT_DENIED",
      "must be of the service itself, or of an origin that an active app of the instance has",
    );
  };
}
