import {
  type UserDeps,
  homesReader,
  user,
  userChecks,
  userNamesReader,
  userNotFound,
} from "../user/index.ts";
import type {
  PatchSessionRequest,
  SessionService,
} from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { editorOf, instanceOwner, type Scope, writeContext } from "../../authz/context.ts";
import type { Authorize, Handlers } from "../../authz/service.ts";
import { requireSequence, withoutExpectation } from "../../eventstore/expected-sequence.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { toListDetails } from "../object/details.ts";
import { answering } from "../object/plain.ts";
import { permissionMissing } from "../../authz/permissions.ts";
import { organization } from "../org/index.ts";
import { sessionChange } from "./change.ts";
import { createSessionChecks } from "./checks.ts";
import { toGetSession } from "./convert.ts";
import { requireNamed } from "./end-others.ts";
import { endSession } from "./end-sessions.ts";
import { sessionJudge } from "./policy.ts";
import { type SessionRow, sessionQueries } from "./queries.ts";
import { addSession, requireSession, type Session, session, sessionNotFound } from "./session.ts";
import { isCalledWith, patchRight } from "./patch-right.ts";
import { isTokenOf } from "./token.ts";
import { sessionTokenInvalid } from "../../authz/tenancy.ts";

type Service = typeof SessionService;

export function sessionAuthorize(deps: UserDeps): Authorize<Service> {
  const { db, tenancy } = deps;
  const homesOf = homesReader(db);
  const queries = sessionQueries(deps);
  const requireRight = patchRight(deps);

  /** Who has the token may; else the user, and who may it where the user is. */
  async function require(
    scope: Scope,
    { id, sessionToken }: { id: string; sessionToken?: string | undefined },
    isOpenTo: (row: SessionRow) => boolean,
  ): Promise<void> {
    const row = await queries.find(scope.instanceId, id);
    if (row === undefined) throw sessionNotFound();
    if (sessionToken === undefined) {
      if (!isOpenTo(row)) await requireOn(scope, row);
      return;
    }
    const at = { instanceId: scope.instanceId, sessionId: id };
    if (await isTokenOf(deps, at, sessionToken)) return;
    if (!isOpenTo(row)) await requireOn(scope, row);
    throw tokenInvalid();
  }

  async function requireOn(scope: Scope, { organizationId, userId }: SessionRow): Promise<void> {
    if (userId !== "") return tenancy.require(scope, { organizationId, userId }, sessionNotFound);
    const { act, read } = scope.policy;
    const holds = (permission: string) => scope.permissions.holds(permission, { type: "instance" });
    if (holds(act)) return;
    throw holds(read) ? permissionMissing(act) : sessionNotFound();
  }

  return {
    async patchSession(request, scope) {
      const { id } = request;
      const { instanceId, policy, permissions } = scope;
      const mayAll = permissions.holds(policy.act, { type: "instance" });
      if (!mayAll && !isOwnProof(request, scope)) throw permissionMissing(policy.act);
      const row = await queries.find(instanceId, id);
      if (row === undefined) throw sessionNotFound();
      const { userId, organizationId, creatorId } = row;
      const ofUser = userId === "" ? undefined : { id: userId, organizationId };
      await requireRight(scope, { id, creatorId, user: ofUser });
    },
    getSession: (request, scope) =>
      require(scope, request, ({ creatorId }) =>
        scope.caller.kind === "user" && creatorId === editorOf(scope.caller)),
    deleteSession: (request, scope) => require(scope, request, () => false),
    getLogInCounts: tenancy.requireOnContext,
    async endOtherSessions(request, scope) {
      const userId = requireNamed(request, scope);
      const organizationId = (await homesOf(scope.instanceId, [userId])).get(userId);
      const owned = organizationId === undefined ? undefined : { organizationId, userId };
      await tenancy.require(scope, owned, userNotFound);
    },
  };
}

export function sessionHandlers(deps: UserDeps) {
  const { db, events, secrets, newId } = deps;
  const queries = sessionQueries(deps);
  const checksOfUsers = userChecks(deps);
  const checks = createSessionChecks(deps, checksOfUsers);
  const change = sessionChange({ secrets, events, checks, checksOfUsers });
  const answer = answering(deps);
  const requireRight = patchRight(deps);
  const requireLiving = livingRow(queries);
  const namesOf = userNamesReader(db);
  const judge = sessionJudge(deps);
  const lacksOf = async (instanceId: string, row: SessionRow): Promise<readonly string[]> =>
    row.userId === "" ? [] : ((await judge(instanceId, row))?.lacks ?? []);

  return {
    async createSession({ session: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the session");
      const checked = await checks.check(writeContext(scope), notMade, wanted.checks);
      return answer(writeContext(scope), async (tx) => {
        const loaded = tx.begin(session, newId());
        tx.record(session, loaded, addSession(), instanceOwner(scope));
        const { userAgent } = wanted;
        const made = await change(tx, scope, loaded, { wanted, checked, userAgent });
        return { ...made, sessionId: loaded.id };
      });
    },

    async patchSession({ id, session: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the session");
      const { state, last } = await events.load(session, scope.instanceId, id);
      const sessionNow = requireSession(state);
      // Before anything is checked: an attempt that comes to nothing would be one that nobody counts.
      requireSequence(scope, last?.sequence ?? 0n);
      const checking = withoutExpectation(writeContext(scope));
      const judged = { session: sessionNow, sessionId: id };
      const checked = await checks.check(checking, judged, wanted.checks);
      return answer(writeContext(scope), async (tx) => {
        const loaded = await tx.load(session, id);
        const { creatorId } = await requireLiving(tx, scope, loaded);
        // Whose session it is may have turned out since the call was let through.
        await requireRight(scope, { id, creatorId, user: requireSession(loaded.state).user });
        return change(tx, scope, loaded, { wanted, checked, userAgent: undefined });
      });
    },

    async getSession({ id }, { instanceId }) {
      const row = await queries.find(instanceId, id);
      if (row === undefined) throw sessionNotFound();
      const names = row.userId === "" ? undefined : await namesOf.of(instanceId, row.userId);
      return { session: toGetSession(row, names, await lacksOf(instanceId, row)) };
    },

    async deleteSession({ id }, scope) {
      const at = { instanceId: scope.instanceId, sessionId: id };
      return answer(writeContext(scope), async (tx) => ({
        written: await endSession(deps, tx, at, "deleted"),
      }));
    },

    async searchSessions(request, scope) {
      const found = await queries.search(scope, request);
      const ids = found.rows.map(({ userId }) => userId).filter((id) => id !== "");
      const names = await namesOf.ofMany(scope.instanceId, [...new Set(ids)]);
      const result = await Promise.all(
        found.rows.map(async (row) =>
          toGetSession(row, names.get(row.userId), await lacksOf(scope.instanceId, row)),
        ),
      );
      const { sortingColumn } = request;
      return { details: toListDetails(found), sortingColumn, result };
    },
  } satisfies Partial<Handlers<Service>>;
}

/**
 * Makes sure that the session has not ended, and that nothing ends it before the commit: what ends all sessions of a
 * user or of an organization stands in their streams.
 */
const livingRow =
  (queries: ReturnType<typeof sessionQueries>) =>
  async (
    tx: Transaction,
    { instanceId }: Scope,
    { id, state }: Loaded<Session | undefined>,
  ): Promise<SessionRow> => {
    const { user: ofUser } = requireSession(state);
    if (ofUser !== undefined) {
      await tx.load(user, ofUser.id);
      await tx.load(organization, ofUser.organizationId);
    }
    const row = await queries.find(instanceId, id);
    if (row === undefined) throw sessionNotFound();
    return row;
  };

const notMade = { session: undefined, sessionId: "" };

/** Whether a user checks more in the very session that they call with (J11). */
const isOwnProof = ({ id, session: wanted }: PatchSessionRequest, scope: Scope): boolean =>
  isCalledWith(id, scope) &&
  wanted?.lifetime === undefined &&
  Object.keys(wanted?.metadata ?? {}).length === 0;

const tokenInvalid = () =>
  sessionTokenInvalid(
    "is not the token of the session: a newer one took its place, or it is another session's",
  );
