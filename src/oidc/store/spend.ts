import { hash } from "node:crypto";
import type { Transaction } from "../../eventstore/transaction.ts";
import { rowWhere } from "../../projection/rows.ts";
import type { Database } from "../../storage/database.ts";
import { insertRow, updateRows } from "../../storage/row-change.ts";
import type { AnyTable } from "../../storage/table.ts";
import type { At, Spend } from "../core/ports.ts";
import { assertionIds, authorizationCodes, deviceAuthorizations, refreshTokens } from "./tables.ts";

type Values = Record<string, unknown>;

/** Thrown out of a decision when something was used up by another. */
export class AlreadySpent extends Error {
  readonly by: Spend["kind"];
  constructor(by: Spend["kind"]) {
    super(`${by} was used before`);
    this.by = by;
  }
}

/** Where what can be used once is kept, what marks it as unused, and what as used. */
const uses: Record<
  Exclude<Spend["kind"], "assertion">,
  (sessionId: string) => { table: AnyTable; unused: Values; used: Values }
> = {
  code: (sessionId) => ({
    table: authorizationCodes,
    unused: { spentBy: "" },
    used: { spentBy: sessionId },
  }),
  refresh_token: () => ({
    table: refreshTokens,
    unused: { isSpent: false },
    used: { isSpent: true },
  }),
  device_code: () => ({
    table: deviceAuthorizations,
    unused: { state: "approved" },
    used: { state: "done" },
  }),
};

/**
 * Uses something up in the unit: of all units that try, on whichever replica, one commits (C6).
 * @param sessionId the OIDC session that comes of it
 * @param isAgain the unit did not commit before: whether this is why is looked up
 * @throws AlreadySpent
 */
export async function spendIn(
  db: Database,
  tx: Transaction,
  { instanceId }: At,
  wanted: Spend,
  { sessionId, isAgain }: { sessionId: string; isAgain: boolean },
): Promise<void> {
  if (wanted.kind === "assertion") {
    const row = { instanceId, digest: assertionDigest(wanted.issuer, wanted.jti) };
    if (isAgain && (await hasRow(db, assertionIds, row))) throw new AlreadySpent(wanted.kind);
    tx.write(insertRow(assertionIds, { ...row, expiresAt: wanted.expiresAt }));
    return;
  }
  const { table, unused, used } = uses[wanted.kind](sessionId);
  const row = { instanceId, digest: wanted.digest };
  const isUnused = { ...row, ...unused };
  if (isAgain && !(await hasRow(db, table, isUnused))) throw new AlreadySpent(wanted.kind);
  tx.expectRows(table, isUnused, 1);
  tx.write(updateRows(table, row, used));
}

/** An assertion by what makes it one: no two issuers disturb each other, however they number theirs. */
const assertionDigest = (issuer: string, jti: string): string =>
  hash("sha256", `${issuer.length}:${issuer}${jti}`, "base64url");

/** Whether there is a row with these values. */
export const hasRow = async (db: Database, table: AnyTable, where: Values): Promise<boolean> =>
  (await rowWhere(db, table, where)) !== undefined;
