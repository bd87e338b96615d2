import { randomBytes } from "node:crypto";
import { equalInConstantTime, randomToken, tokenPrefixes } from "../../crypto/digests.ts";
import { DomainError, failedPrecondition, invalidField, notFound } from "../../errors.ts";
import type { Transaction, WriteContext, Written } from "../../eventstore/transaction.ts";
import type { Answer, ExternalIdentity, Kept, Provider, Way } from "../../federation/index.ts";
import type { Deps } from "../../projection/module.ts";
import { loginSettingsReader } from "../../settings/login/index.ts";
import { Conflict } from "../../storage/database.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { deleteRows, insertRow, updateRows } from "../../storage/row-change.ts";
import { type Idp, idpReader, idpSecretReader } from "../idp/index.ts";
import { authenticatorReader, idpLinkKey, user } from "../user/index.ts";
import { askDirectory } from "./ask-directory.ts";
import { consume, fail, idpIntent, intentSpent, start, succeed } from "./intent.ts";
import { toProviderConfig } from "./provider.ts";
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

/** What proves that the login was the caller's: the token, or the flow that it belongs to. */
export type IntentProof = { id: string } & ({ token: string } | { flowId: string });

export type Said = { id: string; idpId: string; identity: ExternalIdentity };

const waitsMs = 15 * 60_000;
const countsMs = 60 * 60_000;

export type IdpIntents = ReturnType<typeof createIdpIntents>;

/**
 * Logins with identity providers (specification 11.4). A login is begun, answered once, and used once: for a session or for a
 * link, within an hour after its success.
 *
 * The provider must be active for whom the login is (E5): at the start, when the answer comes, and when the
 * login is used.
 */
export function createIdpIntents(
  deps: Pick<
    Deps,
    | "db"
    | "events"
    | "secrets"
    | "now"
    | "newId"
    | "features"
    | "federation"
    | "organizations"
    | "budgets"
    | "noteRefusal"
  >,
) {
  const { db, events, secrets, now, newId, federation } = deps;
  const t = db.table(idpIntents);
  const idps = idpReader(db, deps.features);
  const secretOf = idpSecretReader(db, secrets);
  const links = authenticatorReader(db);
  const settings = loginSettingsReader(db);

  /** Whether users of an organization, or of no certain one, may log in with it. */
  async function isActive(
    instanceId: string,
    organizationId: string | undefined,
    idpId: string,
  ): Promise<boolean> {
    const { allowExternalIdp } = await settings(instanceId, organizationId);
    const state = await idps.effectiveState(instanceId, organizationId, idpId);
    return allowExternalIdp && state === "active";
  }

  /** @throws NOT_FOUND IDP_UNKNOWN; FAILED_PRECONDITION IDP_INACTIVE */
  async function requireIdp(
    instanceId: string,
    organizationId: string | undefined,
    idpId: string,
  ): Promise<{ idp: Idp; provider: Provider }> {
    await db.catchUp();
    const idp = await idps.provider(instanceId, idpId);
    const state = await idps.effectiveState(instanceId, organizationId, idpId);
    if (idp === undefined || state === undefined) throw idpUnknown();
    if (!(await isActive(instanceId, organizationId, idpId))) throw idpInactive();
    return { idp, provider: await providerOf(instanceId, idp) };
  }

  async function providerOf(instanceId: string, idp: Idp): Promise<Provider> {
    const secret = await secretOf(instanceId, idp.id);
    return {
      ...{ instanceId, id: idp.id },
      config: toProviderConfig(idp),
      secret: secret === undefined ? undefined : Buffer.from(secret).toString("utf8"),
    };
  }

  // A link that is suspended leads to nobody (J1a).
  const linkedUser = async (instanceId: string, idpId: string, externalUserId: string) => {
    const link = await links.byLookup(instanceId, "idp", idpLinkKey({ idpId, externalUserId }));
    return link?.isVerified === true ? link.userId : undefined;
  };

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
    type: string,
    identity: ExternalIdentity,
  ): Promise<Success> {
    const { instanceId } = at;
    const { id, idpId } = row;
    await db.catchUp();
    const userId = await linkedUser(instanceId, idpId, identity.id);
    if (userId !== undefined) {
      const { state } = await events.load(user, instanceId, userId);
      const isOn = state && (await isActive(instanceId, state.organizationId, idpId));
      if (!isOn) throw idpInactive();
    }
    const token = randomToken(tokenPrefixes.idpIntent);
    const tokenDigest = await secrets.digest(instanceId, token);
    const written = await events.transact(at, async (tx) => {
      const loaded = await tx.load(idpIntent, id);
      tx.record(idpIntent, loaded, succeed(loaded.state, type, userId ?? ""));
      const expiresAt = new Date(tx.now.getTime() + countsMs);
      const told = Buffer.from(JSON.stringify(identity));
      tx.write(
        updateRows(idpIntents, { instanceId, id }, { phase: "succeeded", tokenDigest, expiresAt }),
        await secrets.put(identityRef(instanceId, id), told, tx.now),
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

  async function rowOf(instanceId: string, id: string): Promise<IntentRow | undefined> {
    await db.catchUp();
    const [row] = await db.read
      .select()
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.id, id)));
    return row !== undefined && row.expiresAt > now() ? row : undefined;
  }

  /** What a provider said, for who can prove that the login was his; undefined once it is over or used. */
  async function said(instanceId: string, proof: IntentProof): Promise<Said | undefined> {
    const row = await rowOf(instanceId, proof.id);
    if (row?.phase !== "succeeded") return undefined;
    const isHis =
      "flowId" in proof
        ? proof.flowId !== "" && row.flowId === proof.flowId
        : row.flowId === "" &&
          equalInConstantTime(
            Buffer.from(row.tokenDigest),
            Buffer.from(await secrets.digest(instanceId, proof.token)),
          );
    if (!isHis) return undefined;
    const told = await secrets.open(identityRef(instanceId, proof.id));
    if (told === undefined) return undefined;
    const identity = JSON.parse(Buffer.from(told).toString("utf8")) as ExternalIdentity;
    return { id: row.id, idpId: row.idpId, identity };
  }

  return {
    isActive,
    offered: idps.list,
    provider: idps.provider,
    requireIdp,

    /** @throws NOT_FOUND IDP_UNKNOWN; FAILED_PRECONDITION IDP_INACTIVE, IDP_CONFIG_INVALID; UNAVAILABLE IDP_UNAVAILABLE */
    async begin(
      at: IntentAt,
      wanted: Wanted & { isFresh: boolean; loginHint?: string | undefined },
    ): Promise<{ id: string; way: Way; written: () => Written }> {
      const { idpId, organizationId, isFresh, loginHint } = wanted;
      const { provider } = await requireIdp(at.instanceId, organizationId, idpId);
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
        const { provider } = await requireIdp(at.instanceId, organizationId, row.idpId);
        // An instance may have many addresses: the provider knows the one that it was asked from.
        const { baseUrl = at.issuer } = row.kept;
        const told = { ...answer, baseUrl, source: at.source };
        const identity = await federation.finish(provider, told, row.kept);
        return await conclude(at, row, provider.config.type, identity);
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
      const { provider } = await requireIdp(at.instanceId, organizationId, idpId);
      const { config } = provider;
      if (config.type !== "ldap") throw notLdap();
      const identity = await askDirectory(deps, at, { ...provider, config }, tried);
      if (identity === undefined) return undefined;
      const id = newId();
      await add(at, wanted, { id, stateDigest: "", kept: {} });
      try {
        return await conclude(at, { id, idpId }, "ldap", identity);
      } catch (error) {
        return failed(at, id, error);
      }
    },

    said,

    /** Uses it up, in the unit of what it is used for. @throws FAILED_PRECONDITION IDP_INTENT_SPENT */
    async spend(tx: Transaction, instanceId: string, { id }: Said, userId: string): Promise<void> {
      const loaded = await tx.load(idpIntent, id);
      tx.record(idpIntent, loaded, consume(loaded.state, userId));
      tx.write(
        deleteRows(idpIntents, { instanceId, id }),
        secrets.remove(identityRef(instanceId, id)),
      );
    },

    /** What a provider of SAML must know of the instance; undefined where there is no such provider. */
    async samlMetadata(
      { instanceId, issuer }: { instanceId: string; issuer: string },
      idpId: string,
    ): Promise<string | undefined> {
      const idp = await idps.provider(instanceId, idpId);
      if (idp?.type !== "saml") return undefined;
      const provider = await providerOf(instanceId, idp);
      const { config } = provider;
      return config.type === "saml"
        ? federation.metadata({ ...provider, config }, issuer)
        : undefined;
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
      if ((await rowOf(instanceId, proof.id)) === undefined) throw intentNotFound();
      const told = await said(instanceId, proof);
      if (told === undefined) throw tokenInvalid();
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
      const userId = await linkedUser(instanceId, told.idpId, told.identity.id);
      return { ...told, userId, written };
    },
  };
}

const nowhere = { flowId: "", successUrl: "", failureUrl: "" };
const stateForm = /^[\w-]{43}$/;

const idpUnknown = () =>
  notFound("IDP_UNKNOWN", "there is no such identity provider in the context");

export const idpInactive = () =>
  failedPrecondition(
    "IDP_INACTIVE",
    "the identity provider is not active for the organization: users of it cannot log in with it",
  );

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
