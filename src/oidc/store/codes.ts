import { newerFormatOf } from "../../crypto/token-format.ts";
import { rowByKey } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { insertRow } from "../../storage/row-change.ts";
import type { DeviceGrant } from "../core/device-ports.ts";
import type { FoundCode, Tokens } from "../core/ports.ts";
import { authorizationCodes, type StoredDeviceGrant, type StoredGrant } from "./tables.ts";

const keptBeyondMs = 24 * 60 * 60 * 1000;
// Those of some seconds of logins at the full pace of a processor.
const mostFresh = 4_000;

/** Authorization codes (RFC 6749 section 4.1.2). */
export function authorizationCodeStore({
  db,
  secrets,
}: Pick<Deps, "db" | "secrets">): Pick<Tokens, "storeCode" | "code"> {
  const byDigest = rowByKey(db, authorizationCodes);
  // Most codes come back within a second, and to the process that gave them out: the first time nothing is read. That a
  // code is unused is not taken from here, but proven by the commit that uses it (spend.ts).
  const fresh = new Map<string, FoundCode>();
  return {
    async storeCode({ instanceId }, value, grant, codeExpiresAt) {
      const digest = await secrets.digest(instanceId, value);
      const row = {
        instanceId,
        digest,
        grant: toStored(grant),
        spentBy: "",
        codeExpiresAt,
        expiresAt: new Date(codeExpiresAt.getTime() + keptBeyondMs),
      };
      const changes = [insertRow(authorizationCodes, row)];
      await db.commit({ instanceId, expect: [], claims: [], events: [], changes });
      const [oldest] = fresh.size < mostFresh ? [] : fresh.keys();
      if (oldest !== undefined) fresh.delete(oldest);
      const entry = { digest, grant, expiresAt: codeExpiresAt, spentBy: undefined };
      fresh.set(`${instanceId} ${digest}`, entry);
    },

    async code({ instanceId }, value) {
      if (newerFormatOf(value) !== undefined) return undefined;
      const digest = await secrets.digest(instanceId, value);
      const entry = fresh.get(`${instanceId} ${digest}`);
      if (entry !== undefined && fresh.delete(`${instanceId} ${digest}`)) return entry;
      const row = await byDigest(instanceId, digest);
      if (row === undefined) return undefined;
      return {
        digest,
        grant: fromStored(row.grant),
        expiresAt: row.codeExpiresAt,
        spentBy: row.spentBy === "" ? undefined : row.spentBy,
      };
    },
  };
}

export const toStored = <G extends DeviceGrant>({
  authTime,
  ...same
}: G): Omit<G, "authTime"> & { authTime: number | undefined } => ({
  ...same,
  authTime: authTime?.getTime(),
});

/** What stood in JSON leaves out what is undefined. */
export const fromStored = <S extends StoredGrant | StoredDeviceGrant>({
  authTime,
  ...same
}: S): Omit<S, "authTime"> & { authTime: Date | undefined } => ({
  ...same,
  // A code of another release, which wrote strings, is for its client alone.
  audience: same.audience.every((each) => typeof each !== "string")
    ? same.audience
    : [{ kind: "client", id: same.clientId }],
  authTime: authTime === undefined ? undefined : new Date(authTime),
});
