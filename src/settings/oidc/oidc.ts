import { type RotationTimes, usualTimes } from "../../resources/webkey/index.ts";
import type { Database } from "../../storage/database.ts";
import { type SettingsReader, settingsReader } from "../object/contexts.ts";
import { millisecondsOf } from "../object/convert.ts";
import { defineSettings, type SettingValue } from "../object/settings.ts";

/** What counts where the instance does not set a property (specification 10.13). */
export const builtInTimes = {
  access_token_lifetime: "43200s",
  id_token_lifetime: "43200s",
  refresh_token_idle_expiration: "2592000s",
  refresh_token_expiration: "7776000s",
  authorization_code_lifetime: "60s",
  key_rotation_period: "2592000s",
} as const satisfies Record<string, SettingValue>;

/** How long what an instance issues is valid. Organizations have none: tokens and keys are those of the instance. */
export const oidcSettings = defineSettings("oidc", ["instance"], Object.keys(builtInTimes));

export type OidcTimes = {
  accessTokenLifetimeMs: number;
  idTokenLifetimeMs: number;
  /** Of a refresh token that is not used. */
  refreshTokenIdleMs: number;
  /** Of all refreshing since the login. */
  refreshTokenMs: number;
  codeLifetimeMs: number;
  keyRotationMs: number;
};

export const oidcSettingsReader = (db: Database): SettingsReader<OidcTimes> =>
  settingsReader(
    db,
    oidcSettings,
    builtInTimes,
    (value): OidcTimes => ({
      accessTokenLifetimeMs: millisecondsOf(value("access_token_lifetime")),
      idTokenLifetimeMs: millisecondsOf(value("id_token_lifetime")),
      refreshTokenIdleMs: millisecondsOf(value("refresh_token_idle_expiration")),
      refreshTokenMs: millisecondsOf(value("refresh_token_expiration")),
      codeLifetimeMs: millisecondsOf(value("authorization_code_lifetime")),
      keyRotationMs: millisecondsOf(value("key_rotation_period")),
    }),
  );

/**
 * How the keys of instances rotate under these settings. What was signed before its life was shortened keeps the time it
 * was given: a key stays for as long as the built-in lifetimes at least.
 */
export function rotationTimes(db: Database): (instanceId: string) => Promise<RotationTimes> {
  const read = oidcSettingsReader(db);
  return async (instanceId) => {
    const { keyRotationMs, accessTokenLifetimeMs, idTokenLifetimeMs } = await read(instanceId);
    const { tokenLifeMs } = usualTimes;
    return {
      periodMs: keyRotationMs,
      tokenLifeMs: Math.max(accessTokenLifetimeMs, idTokenLifetimeMs, tokenLifeMs),
    };
  };
}
