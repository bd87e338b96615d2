import { rowsWhere } from "../../projection/rows.ts";
import { SetOIDCSettingsSchema } from "#gen/idsvc/settings/oidc/v3alpha/oidc_pb.ts";
import type { OidcTimes } from "../../authz/policies.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import { type SettingsReader, settingsReader } from "../object/contexts.ts";
import { millisecondsOf } from "../object/convert.ts";
import { organizationRules } from "../object/floors.ts";
import {
  countingValues,
  defineSettings,
  type SettingValue,
  settingValues,
} from "../object/settings.ts";

/** What counts where the instance does not set a property (specification 10.13). */
export const builtInTimes = {
  access_token_lifetime: "43200s",
  id_token_lifetime: "43200s",
  refresh_token_idle_expiration: "2592000s",
  refresh_token_expiration: "7776000s",
  authorization_code_lifetime: "60s",
  key_rotation_period: "2592000s",
} as const satisfies Record<string, SettingValue>;

/** How long what is issued is valid, set for an instance, or for an organization and what is issued to its apps. */
export const oidcSettings = defineSettings(
  "oidc",
  ["instance", "org"],
  Object.keys(builtInTimes),
  organizationRules(SetOIDCSettingsSchema, builtInTimes),
);

type Times = OidcTimes & { keyRotationMs: number };

export const oidcSettingsReader = (db: Database): SettingsReader<Times> =>
  settingsReader(
    db,
    oidcSettings,
    builtInTimes,
    (value): Times => ({
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
 * was given: a key stays for as long as the built-in lifetimes at least, and as the longest that counts in any organization.
 */
export function rotationTimes(
  db: Database,
): (instanceId: string) => Promise<{ periodMs: number; tokenLifeMs: number }> {
  const read = oidcSettingsReader(db);
  const longestOf = cachedRead(db, [settingValues], (instanceId) => longestLife(db, instanceId));
  const builtIn = [builtInTimes.access_token_lifetime, builtInTimes.id_token_lifetime].map(
    millisecondsOf,
  );
  return async (instanceId) => {
    const { keyRotationMs, accessTokenLifetimeMs, idTokenLifetimeMs } = await read(instanceId);
    const ofInstance = Math.max(accessTokenLifetimeMs, idTokenLifetimeMs);
    const ofOrganizations = await longestOf(instanceId, "");
    return {
      periodMs: keyRotationMs,
      tokenLifeMs: Math.max(ofInstance, ofOrganizations, ...builtIn),
    };
  };
}

const signed = ["access_token_lifetime", "id_token_lifetime"];

/** The longest life that an organization gives what keys sign, in milliseconds; 0 where none gives one. */
async function longestLife(db: Database, instanceId: string): Promise<number> {
  const settingGroup = oidcSettings.name;
  const rows = await rowsWhere(db, settingValues, { instanceId, settingGroup, property: signed });
  const set = rows.filter(({ ownerType }) => ownerType === "instance");
  const demanded = Object.fromEntries(set.map(({ property, value }) => [property, value]));
  const lives = rows
    .filter(({ ownerType }) => ownerType === "org")
    .map(({ property, value }) => countingValues(oidcSettings, { [property]: value }, demanded))
    .flatMap((counting) => Object.values(counting).map(millisecondsOf));
  return Math.max(0, ...lives);
}
