import type { Deps } from "../../projection/module.ts";
import { and, eq, sql } from "../../storage/drizzle.ts";
import { insertRow } from "../../storage/row-change.ts";
import type { DeviceGrant } from "../core/device-ports.ts";
import type { Tokens } from "../core/ports.ts";
import { authorizationCodes, type StoredDeviceGrant, type StoredGrant } from "./tables.ts";

const keptBeyondMs = 24 * 60 * 60 * 1000;

/** Authorization codes (RFC 6749 section 4.1.2). */
export function authorizationCodeStore({
  db,
  secrets,
}: Pick<Deps, "db" | "secrets">): Pick<Tokens, "storeCode" | "code"> {
  const t = db.table(authorizationCodes);
  const byDigest = db.read
    .select()
    .from(t)
    .where(
      and(eq(t.instanceId, sql.placeholder("instanceId")), eq(t.digest, sql.placeholder("digest"))),
    )
    .prepare("authorization_code");
  return {
    async storeCode({ instanceId }, value, grant, codeExpiresAt) {
      const row = {
        instanceId,
        digest: await secrets.digest(instanceId, value),
        grant: toStored(grant),
        spentBy: "",
        codeExpiresAt,
        expiresAt: new Date(codeExpiresAt.getTime() + keptBeyondMs),
      };
      const changes = [insertRow(authorizationCodes, row)];
      await db.commit({ instanceId, expect: [], claims: [], events: [], changes });
    },

    async code({ instanceId }, value) {
      const digest = await secrets.digest(instanceId, value);
      const [row] = await byDigest.execute({ instanceId, digest });
      if (row === undefined) return undefined;
      return {
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
  authTime: authTime === undefined ? undefined : new Date(authTime),
});
