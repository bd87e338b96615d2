import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  GetSignInSchema,
  SignedInAppSchema,
} from "#gen/idsvc/resources/signin/v3alpha/sign_in_pb.ts";
import type { SignInService } from "#gen/idsvc/resources/signin/v3alpha/sign_in_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import type { Authorize, Handlers, HeldBy } from "../../authz/service.ts";
import { notFound } from "../../errors.ts";
import { withoutExpectation } from "../../eventstore/expected-sequence.ts";
import type { Seen } from "../../eventstore/presence.ts";
import { loadIn } from "../../eventstore/load-in.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { type AppReader, appReader } from "../app/index.ts";
import { toDetails, toListDetails, toOrganizationOwnedDetails } from "../object/details.ts";
import {
  createVisits,
  endSession,
  endSome,
  endTrust,
  session,
  type Visit,
} from "../session/index.ts";
import { type SessionRow, signInQueries } from "./queries.ts";

type Service = typeof SignInService;
type Shown = MessageInitShape<typeof GetSignInSchema>;

/** An app that holds families of tokens of a session. */
export type SignedInApp = { sessionId: string; clientId: string; families: number };
export type SignedInAppReader = (
  db: Database,
) => (instanceId: string, sessionIds: readonly string[]) => Promise<SignedInApp[]>;

export function signInAuthorize(deps: Deps): Authorize<Service> {
  const queries = signInQueries(deps);
  return {
    async deleteSignIn({ id }, scope) {
      const row = await queries.find(scope.instanceId, id);
      await deps.tenancy.require(scope, row, signInNotFound);
    },
  };
}

/** Who is kept out. */
export function usersOfSignIns({ events }: Pick<Deps, "events">): HeldBy<Service> {
  return {
    async deleteSignIn({ id }, { instanceId }, tx) {
      const { state } = await loadIn(events, instanceId, tx)(session, id);
      return state?.user === undefined ? [] : [{ userId: state.user.id }];
    },
  };
}

export function signInHandlers(deps: Deps, appsOf: SignedInAppReader): Handlers<Service> {
  const { db, events } = deps;
  const queries = signInQueries(deps);
  const visits = createVisits(deps);
  const apps = appReader(db);
  const signedInApps = appsOf(db);

  async function toGetSignIn(row: SessionRow, { caller, instanceId }: Scope): Promise<Shown> {
    const others = await queries.living(instanceId, await visits.beside(instanceId, row.id));
    const all = [row, ...others];
    const ids = all.map(({ id }) => id);
    const seen = await visits.ofSessions(instanceId, ids);
    const dates = [...all.map(({ changeDate }) => changeDate), ...seen.map(({ seenAt }) => seenAt)];
    const latest = seen.toSorted((a, b) => b.seenAt.getTime() - a.seenAt.getTime())[0];
    const own = caller.kind === "user" ? caller.authentication?.sessionId : undefined;
    return {
      details: toOrganizationOwnedDetails(row),
      userId: row.userId,
      ...whereOf(row, latest),
      since: timestampFromDate(row.creationDate),
      lastSeen: timestampFromDate(new Date(Math.max(...dates.map((date) => date.getTime())))),
      isOwn: own !== undefined && ids.includes(own),
      sessionIds: ids,
      apps: await toApps(apps, instanceId, await signedInApps(instanceId, ids)),
    };
  }

  return {
    async searchSignIns(request, scope) {
      const found = await queries.search(scope, request);
      const result = await Promise.all(found.rows.map((row) => toGetSignIn(row, scope)));
      return { details: toListDetails(found), sortingColumn: request.sortingColumn, result };
    },

    async deleteSignIn({ id }, scope) {
      const { instanceId } = scope;
      const at = writeContext(scope);
      // Before any ends: which ones belong together is known by what goes with them.
      const others = await visits.beside(instanceId, id);
      const browserId = await visits.browserOf(instanceId, id);
      const written = await events.transact(at, async (tx) => {
        const userId = (await tx.load(session, id)).state?.user?.id;
        if (userId !== undefined && browserId !== undefined) {
          tx.write(endTrust({ instanceId, userId, browserId }));
        }
        return endSession(deps, tx, { instanceId, sessionId: id }, "deleted");
      });
      await endSome(deps, withoutExpectation(at), others);
      return { details: toDetails(written()) };
    },
  };
}

/** What is told of where it is: of a session that no browser of the hosted login has, what who created it says. */
function whereOf({ userAgent }: SessionRow, visit: Visit | undefined): Partial<Seen> {
  if (visit !== undefined) return visit.seen ?? {};
  return userAgent === null ? {} : { browser: userAgent.description, address: userAgent.ip };
}

async function toApps(
  apps: Pick<AppReader, "byClientId">,
  instanceId: string,
  held: readonly SignedInApp[],
): Promise<MessageInitShape<typeof SignedInAppSchema>[]> {
  const byClient = Map.groupBy(held, ({ clientId }) => clientId);
  return Promise.all(
    [...byClient].map(async ([clientId, each]) => ({
      clientId,
      appName: (await apps.byClientId(instanceId, clientId))?.name ?? "",
      tokenFamilies: each.reduce((sum, { families }) => sum + families, 0),
    })),
  );
}

const signInNotFound = () =>
  notFound("SIGN_IN_NOT_FOUND", "the sign-in does not exist, or has ended");
