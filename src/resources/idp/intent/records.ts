import type { Idp } from "../reader.ts";
import { decideOn, type WriteContext, type Written } from "../../../eventstore/transaction.ts";
import { type IdpIntents, type IntentDeps, idpInactive, type Said } from "./intents.ts";
import { identityRef, idpIntents, type IntentRow } from "./table.ts";
import { updateRows, insertRow } from "../../../storage/row-change.ts";
import { start, idpIntent, fail, succeed, intentSpent } from "./intent.ts";
import { randomToken, tokenPrefixes } from "../../../crypto/digests.ts";
import { type ExternalIdentity, type Kept } from "../../../federation/index.ts";
import { Conflict } from "../../../storage/database.ts";
import { DomainError } from "../../../errors.ts";

/** On whose behalf, and at which address of the instance. */
export type IntentAt = WriteContext & { issuer: string };

/** Where it goes on after the provider: a flow of the hosted login, or a login page of somebody's own. */
export type GoesOn = { flowId: string } | { successUrl: string; failureUrl: string };

export type Wanted = {
  idpId: string;
  /** The organization whose view of the provider counts; absent for the instance. */
  organizationId: string | undefined;
  goesOn: GoesOn;
};

/** A login that succeeded: who it was there, and which user has that account. */
export type Success = Said & {
  /** For login pages of somebody's own; what a hosted login goes by is its flow. */
  token: string;
  userId: string | undefined;
  written: () => Written;
};

/** Which user has an account with a provider, by a link that is not suspended (J1a); users stand above logins. */
export type LinkedUser = (
  instanceId: string,
  idpId: string,
  externalUserId: string,
) => Promise<{ id: string; organizationId: string | undefined } | undefined>;

const waitsMs = 15 * 60_000;
const countsMs = 60 * 60_000;

/** The records of logins: begun, answered, and what became of them. */
export function loginRecords(deps: IntentDeps, linkedUser: LinkedUser, intents: IdpIntents) {
  const { db, events, secrets } = deps;

  async function add(
    at: IntentAt,
    { idpId, organizationId = "", goesOn }: Wanted,
    { id, stateDigest, kept }: { id: string; stateDigest: string; kept: Kept },
  ): Promise<() => Written> {
    const { instanceId, issuer: baseUrl } = at;
    const { flowId, successUrl, failureUrl } = { ...nowhere, ...goesOn };
    return events.transact(at, async (tx) => {
      const loaded = tx.begin(idpIntent, id);
      tx.record(idpIntent, loaded, start(idpId), { type: "instance", id: instanceId });
      tx.write(
        insertRow(idpIntents, {
          instanceId,
          id,
          idpId,
          organizationId,
          stateDigest,
          kept: { ...kept, baseUrl },
          flowId,
          successUrl,
          failureUrl,
          phase: "waiting",
          tokenDigest: "",
          isRetrieved: false,
          createdAt: tx.now,
          expiresAt: new Date(tx.now.getTime() + waitsMs),
        }),
      );
      return tx.written(loaded);
    });
  }

  /** Records what became of it. @throws FAILED_PRECONDITION IDP_INACTIVE for an account of an organization that is off */
  async function conclude(
    at: IntentAt,
    row: Pick<IntentRow, "id" | "idpId">,
    { type, options }: Idp,
    told: ExternalIdentity,
  ): Promise<Success> {
    const { instanceId } = at;
    const { id, idpId } = row;
    const identity = trusted(told, options);
    await db.catchUp();
    const linked = await linkedUser(instanceId, idpId, identity.id);
    if (linked !== undefined) {
      const { organizationId } = linked;
      const isOn = organizationId && (await intents.isActive(instanceId, organizationId, idpId));
      if (!isOn) throw idpInactive();
    }
    const userId = linked?.id;
    const token = randomToken(tokenPrefixes.idpIntent);
    const tokenDigest = await secrets.digest(instanceId, token);
    const written = await events.transact(at, async (tx) => {
      const loaded = await decideOn(tx, idpIntent, id, (state) =>
        succeed(state, type, userId ?? ""),
      );
      const expiresAt = new Date(tx.now.getTime() + countsMs);
      const bytes = Buffer.from(JSON.stringify(identity));
      tx.write(
        updateRows(idpIntents, { instanceId, id }, { phase: "succeeded", tokenDigest, expiresAt }),
        await secrets.put(identityRef(instanceId, id), bytes, tx.now),
      );
      return tx.written(loaded);
    });
    return { id, idpId, token, identity, userId, written };
  }

  /** Records a failure, and goes on with it. */
  async function failed(at: IntentAt, id: string, error: unknown): Promise<never> {
    const { instanceId } = at;
    const reason = error instanceof DomainError ? error.reason : "INTERNAL";
    await events.transact(at, async (tx) => {
      await decideOn(tx, idpIntent, id, (state) => fail(state, reason));
      tx.write(updateRows(idpIntents, { instanceId, id }, { phase: "failed" }));
    });
    throw error;
  }

  return { add, takeUp: (row: IntentRow) => takeUp(db, row), conclude, failed };
}

/** Uses up the state, whatever comes of the answer. @throws FAILED_PRECONDITION IDP_INTENT_SPENT */
async function takeUp(db: IntentDeps["db"], { instanceId, id }: IntentRow): Promise<void> {
  const waiting = { instanceId, id, phase: "waiting" };
  await changeOnce(db, waiting, { phase: "answered", kept: {} }, intentSpent);
}

/** Changes a login that is still as `where` says, alone. @throws refusal() where it is not */
export async function changeOnce(
  db: IntentDeps["db"],
  where: Partial<IntentRow> & { instanceId: string },
  values: Partial<IntentRow>,
  refusal: () => DomainError,
): Promise<void> {
  const { instanceId } = where;
  const expect = [{ kind: "rows" as const, table: idpIntents, where, count: 1 }];
  const changes = [updateRows(idpIntents, where, values)];
  try {
    await db.commit({ instanceId, expect, claims: [], events: [], changes });
  } catch (error) {
    throw error instanceof Conflict ? refusal() : error;
  }
}

/** Where the provider does not say whether an address is verified, its options do. */
const trusted = (
  identity: ExternalIdentity,
  { isEmailTrusted = false, isPhoneTrusted = false }: Idp["options"],
): ExternalIdentity => ({
  ...identity,
  isEmailVerified: identity.isEmailVerified ?? isEmailTrusted,
  isPhoneVerified: identity.isPhoneVerified ?? isPhoneTrusted,
});

const nowhere = { flowId: "", successUrl: "", failureUrl: "" };
