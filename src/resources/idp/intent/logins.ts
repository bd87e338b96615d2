import { randomBytes } from "node:crypto";
import { failedPrecondition, invalidField, notFound } from "../../../errors.ts";
import type { WriteContext, Written } from "../../../eventstore/transaction.ts";
import type { Answer, Way } from "../../../federation/index.ts";
import { directoryAsker } from "./ask-directory.ts";
import { idpIntent } from "./intent.ts";
import {
  createIdpIntents,
  living,
  type IntentDeps,
  type Said,
  type IdpIntents,
} from "./intents.ts";
import {
  changeOnce,
  type IntentAt,
  type LinkedUser,
  loginRecords,
  type Success,
  type Wanted,
} from "./records.ts";
import type { IntentRow } from "./table.ts";

/** A login that waits for the answer of its provider. */
type Waiting = Pick<IntentRow, "id" | "idpId" | "flowId" | "successUrl" | "failureUrl"> & {
  /**
   * Judges the answer. The state is used up before the provider is asked anything.
   *
   * @throws NOT_FOUND IDP_UNKNOWN; FAILED_PRECONDITION IDP_INTENT_SPENT, IDP_INACTIVE, IDP_ANSWER_INVALID, IDP_DENIED,
   * UNAVAILABLE IDP_UNAVAILABLE
   */
  answer(at: IntentAt, received: Omit<Answer, "baseUrl">): Promise<Success>;
};

/**
 * Logins with identity providers (specification 11.4). A login is begun, answered once, and used once.
 *
 * The provider must be active for whom the login is (E5): at the start, when the answer comes, and when the
 * login is used.
 */
export function createIdpLogins(deps: IntentDeps, linkedUser: LinkedUser) {
  const { secrets, newId, federation } = deps;
  const intents = createIdpIntents(deps);
  const askDirectory = directoryAsker(deps);

  const { add, takeUp, conclude, failed } = loginRecords(deps, linkedUser, intents);

  async function answer(
    at: IntentAt,
    row: IntentRow,
    given: Omit<Answer, "baseUrl">,
  ): Promise<Success> {
    await takeUp(row);
    try {
      const organizationId = row.organizationId || undefined;
      const { idp, provider } = await intents.requireIdp(at.instanceId, organizationId, row.idpId);
      // An instance may have many addresses: the provider knows the one that it was asked from.
      const { baseUrl = at.issuer } = row.kept;
      const received = { ...given, baseUrl, source: at.source };
      const identity = await federation.finish(provider, received, row.kept);
      return await conclude(at, row, idp, identity);
    } catch (error) {
      return failed(at, row.id, error);
    }
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

    /** The login that waits for an answer with this state, and what judges the answer. */
    async waiting(instanceId: string, state: string): Promise<Waiting | undefined> {
      if (!stateForm.test(state)) return undefined;
      const stateDigest = await secrets.digest(instanceId, state);
      const row = await living(deps, { instanceId, stateDigest });
      if (row === undefined) return undefined;
      const { id, idpId, flowId, successUrl, failureUrl } = row;
      const login = { id, idpId, flowId, successUrl, failureUrl };
      return { ...login, answer: (at, received) => answer(at, row, received) };
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

    retrieve: retrieval(deps, linkedUser, intents),
  };
}

/**
 * What a login page of somebody's own is told, once.
 *
 * @throws NOT_FOUND IDP_INTENT_NOT_FOUND, INVALID_ARGUMENT IDP_INTENT_TOKEN_INVALID
 */
function retrieval({ db, events }: IntentDeps, linkedUser: LinkedUser, intents: IdpIntents) {
  return async (
    at: WriteContext,
    proof: { id: string; token: string },
  ): Promise<Said & { userId: string | undefined; written: () => Written }> => {
    const { instanceId } = at;
    if ((await intents.rowOf(instanceId, proof.id)) === undefined) throw intentNotFound();
    const said = await intents.said(instanceId, proof);
    if (said === undefined) throw tokenInvalid();
    const unread = { instanceId, id: proof.id, isRetrieved: false };
    await changeOnce(db, unread, { isRetrieved: true }, tokenInvalid);
    const written = await events.transact(at, async (tx) =>
      tx.written(await tx.load(idpIntent, proof.id)),
    );
    const userId = (await linkedUser(instanceId, said.idpId, said.identity.id))?.id;
    return { ...said, userId, written };
  };
}

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
