import { randomBytes } from "node:crypto";
import { randomToken, tokenPrefixes } from "../../crypto/digests.ts";
import { DomainError, failedPrecondition, invalidField, notFound } from "../../errors.ts";
import type { WriteContext, Written } from "../../eventstore/transaction.ts";
import type { Answer, ExternalIdentity, Kept, Way } from "../../federation/index.ts";
import { Conflict } from "../../storage/database.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { insertRow, updateRows } from "../../storage/row-change.ts";
import type { Idp } from "../idp/index.ts";
import { directoryAsker } from "./ask-directory.ts";
import { fail, idpIntent, intentSpent, start, succeed } from "./intent.ts";
import { createIdpIntents, idpInactive, type IntentDeps, type Said } from "./intents.ts";
import { identityRef, idpIntents, type IntentRow } from "./table.ts";

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
export type Success = {
  id: string;
  idpId: string;
  /** For login pages of somebody's own; what a hosted login goes by is its flow. */
  token: string;
  identity: ExternalIdentity;
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

export type IdpLogins = ReturnType<typeof createIdpLogins>;

/**
 * Logins with identity providers (specification 11.4). A login is begun, answered once, and used once.
 *
 * The provider must be active for whom the login is (E5): at the start, when the answer comes, and when the
 * login is used.
 */
export function createIdpLogins(deps: IntentDeps, linkedUser: LinkedUser) {
  const { db, events, secrets, now, newId, federation } = deps;
  const t = db.table(idpIntents);
  const intents = createIdpIntents(deps);
  const askDirectory = directoryAsker(deps);

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
          ...{ instanceId, id, idpId, organizationId, stateDigest, kept: { ...kept, baseUrl } },
          ...{ flowId, successUrl, failureUrl, phase: "waiting", tokenDigest: "" },
          isRetrieved: false,
          createdAt: tx.now,
          expiresAt: new Date(tx.now.getTime() + waitsMs),
        }),
      );
      return tx.written(loaded);
    });
  }

  /** Uses up the state, whatever comes of the answer. @throws FAILED_PRECONDITION IDP_INTENT_SPENT */
  async function takeUp({ instanceId, id }: IntentRow): Promise<void> {
    const waiting = { instanceId, id, phase: "waiting" };
    await db
      .commit({
        instanceId,
        expect: [{ kind: "rows", table: idpIntents, where: waiting, count: 1 }],
        claims: [],
        events: [],
        changes: [updateRows(idpIntents, { instanceId, id }, { phase: "answered", kept: {} })],
      })
      .catch((error: unknown) => {
        throw error instanceof Conflict ? intentSpent() : error;
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
      const loaded = await tx.load(idpIntent, id);
      tx.record(idpIntent, loaded, succeed(loaded.state, type, userId ?? ""));
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
      const loaded = await tx.load(idpIntent, id);
      tx.record(idpIntent, loaded, fail(loaded.state, reason));
      tx.write(updateRows(idpIntents, { instanceId, id }, { phase: "failed" }));
    });
    throw error;
  }

  return {
    ...intents,

    /** @throws NOT_FOUND IDP_UNKNOWN; FAILED_PRECONDITION IDP_INACTIVE, IDP_CONFIG_INVALID; UNAVAILABLE IDP_UNAVAILABLE */
    async begin(
      at: IntentAt,
      wanted: Wanted & { isFresh: boolean; loginHint?: string | undefined },
    ): Promise<{ id: string; way: Way; written: () => Written }> {
      const { idpId, organizationId, isFresh, loginHint } = wanted;
      const { provider } = await intents.requireIdp(at.instanceId, organizationId, idpId);
      const state = randomBytes(32).toString("base64url");
      const begin = { state, baseUrl: at.issuer, isFresh, loginHint };
      const { way, kept } = await federation.begin(provider, begin);
      const stateDigest = await secrets.digest(at.instanceId, state);
      const id = newId();
      return { id, way, written: await add(at, wanted, { id, stateDigest, kept }) };
    },

    /** The login that waits for an answer with this state. */
    async waiting(instanceId: string, state: string): Promise<IntentRow | undefined> {
      if (!stateForm.test(state)) return undefined;
      await db.catchUp();
      const stateDigest = await secrets.digest(instanceId, state);
      const [row] = await db.read
        .select()
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.stateDigest, stateDigest)));
      return row !== undefined && row.expiresAt > now() ? row : undefined;
    },

    /**
     * Judges the answer to a login that waits. Its state is used up before the provider is asked anything.
     *
     * @throws NOT_FOUND IDP_UNKNOWN; FAILED_PRECONDITION IDP_INTENT_SPENT, IDP_INACTIVE, IDP_ANSWER_INVALID, IDP_DENIED,
     * UNAVAILABLE IDP_UNAVAILABLE
     */
    async answer(at: IntentAt, row: IntentRow, answer: Omit<Answer, "baseUrl">): Promise<Success> {
      await takeUp(row);
      try {
        const organizationId = row.organizationId || undefined;
        const { idp, provider } = await intents.requireIdp(
          at.instanceId,
          organizationId,
          row.idpId,
        );
        // An instance may have many addresses: the provider knows the one that it was asked from.
        const { baseUrl = at.issuer } = row.kept;
        const received = { ...answer, baseUrl, source: at.source };
        const identity = await federation.finish(provider, received, row.kept);
        return await conclude(at, row, idp, identity);
      } catch (error) {
        return failed(at, row.id, error);
      }
    },

    /**
     * Asks a directory. Undefined where the name or the password is wrong, or there is no such name.
     * @throws NOT_FOUND IDP_UNKNOWN; FAILED_PRECONDITION IDP_INACTIVE, IDP_NOT_LDAP; UNAVAILABLE IDP_UNAVAILABLE
     */
    async lookUp(
      at: IntentAt,
      wanted: Wanted,
      tried: { username: string; password: string },
    ): Promise<Success | undefined> {
      const { idpId, organizationId } = wanted;
      const { idp, provider } = await intents.requireIdp(at.instanceId, organizationId, idpId);
      const { config } = provider;
      if (config.type !== "ldap") throw notLdap();
      const identity = await askDirectory(at, { ...provider, config }, tried);
      if (identity === undefined) return undefined;
      const id = newId();
      await add(at, wanted, { id, stateDigest: "", kept: {} });
      try {
        return await conclude(at, { id, idpId }, idp, identity);
      } catch (error) {
        return failed(at, id, error);
      }
    },

    /**
     * What a login page of somebody's own is told, once.
     *
     * @throws NOT_FOUND IDP_INTENT_NOT_FOUND, INVALID_ARGUMENT IDP_INTENT_TOKEN_INVALID
     */
    async retrieve(
      at: WriteContext,
      proof: { id: string; token: string },
    ): Promise<Said & { userId: string | undefined; written: () => Written }> {
      const { instanceId } = at;
      if ((await intents.rowOf(instanceId, proof.id)) === undefined) throw intentNotFound();
      const said = await intents.said(instanceId, proof);
      if (said === undefined) throw tokenInvalid();
      const unread = { instanceId, id: proof.id, isRetrieved: false };
      await db
        .commit({
          instanceId,
          expect: [{ kind: "rows", table: idpIntents, where: unread, count: 1 }],
          claims: [],
          events: [],
          changes: [updateRows(idpIntents, unread, { isRetrieved: true })],
        })
        .catch((error: unknown) => {
          throw error instanceof Conflict ? tokenInvalid() : error;
        });
      const written = await events.transact(at, async (tx) =>
        tx.written(await tx.load(idpIntent, proof.id)),
      );
      const userId = (await linkedUser(instanceId, said.idpId, said.identity.id))?.id;
      return { ...said, userId, written };
    },
  };
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
const stateForm = /^[\w-]{43}$/;

const notLdap = () =>
  failedPrecondition(
    "IDP_NOT_LDAP",
    "only a directory takes name and password: start the provider with urls",
  );

const intentNotFound = () =>
  notFound(
    "IDP_INTENT_NOT_FOUND",
    "there is no such login with a provider: it never was, was used, or is over",
  );

const tokenInvalid = () =>
  invalidField(
    "idp_intent_token",
    "IDP_INTENT_TOKEN_INVALID",
    "is not the token of a login that succeeded within the last hour and was not used or retrieved",
  );
