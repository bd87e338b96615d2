import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  GetSignInSchema,
  SignedInAppSchema,
} from "#gen/idsvc/resources/signin/v3alpha/sign_in_pb.ts";
import type { SignInService } from "#gen/idsvc/resources/signin/v3alpha/sign_in_service_pb.ts";
import type { AppReader } from "../../authz/apps.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import type { Authorize, Handlers, HeldBy } from "../../authz/service.ts";
import { notFound } from "../../errors.ts";
import { withoutExpectation } from "../../eventstore/expected-sequence.ts";
import type { Seen } from "../../eventstore/presence.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { toDetails, toListDetails, toOrganizationOwnedDetails } from "../object/details.ts";
import { whereItIs } from "../object/plain.ts";
import { userOf } from "../object/user-of.ts";
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

// So many sign-ins are read together: as each may have many sessions, all of a page might be too many.
const shownAtOnce = 50;

export const signInAuthorize = (deps: Deps): Authorize<Service> => ({
  deleteSignIn: whereItIs(deps, signInQueries(deps).find, signInNotFound),
});

/** Whom the end of a sign-in shuts out. */
export const usersOfSignIns = ({ events }: Pick<Deps, "events">): HeldBy<Service> => ({
  deleteSignIn: userOf(events, session, (state) => state?.user?.id),
});

export function signInHandlers(deps: Deps, appsOf: SignedInAppReader): Handlers<Service> {
  const { apps, db, events } = deps;
  const queries = signInQueries(deps);
  const visits = createVisits(deps);
  const signedInApps = appsOf(db);

  /** The sign-ins that these sessions stand for, by a few reads for all of them. */
  async function toSignIns(rows: readonly SessionRow[], scope: Scope): Promise<Shown[]> {
    const { caller, instanceId } = scope;
    const beside = await visits.beside(instanceId, idsOf(rows));
    const living = await queries.living(instanceId, [...beside.values()].flat());
    const others = new Map(living.map((row) => [row.id, row]));
    const all = rows.map((row) => [
      row,
      ...(beside.get(row.id) ?? []).flatMap((id) => others.get(id) ?? []).toSorted(byAge),
    ]);
    const seen = Map.groupBy(
      await visits.ofSessions(instanceId, idsOf(all.flat())),
      ({ id }) => id,
    );
    const tokens = Map.groupBy(
      await signedInApps(instanceId, idsOf(all.flat())),
      ({ sessionId }) => sessionId,
    );
    const own = caller.kind === "user" ? caller.authentication?.sessionId : undefined;
    return Promise.all(
      all.map(async (together) => {
        const ids = idsOf(together);
        const shown = toGetSignIn(
          together,
          ids.flatMap((id) => seen.get(id) ?? []),
        );
        const ofApps = ids.flatMap((id) => tokens.get(id) ?? []);
        return {
          ...shown,
          isOwn: own !== undefined && ids.includes(own),
          apps: await toApps(apps, instanceId, ofApps),
        };
      }),
    );
  }

  return {
    async searchSignIns(request, scope) {
      const found = await queries.search(scope, request);
      const result: Shown[] = [];
      for (let from = 0; from < found.rows.length; from += shownAtOnce) {
        result.push(...(await toSignIns(found.rows.slice(from, from + shownAtOnce), scope)));
      }
      return { details: toListDetails(found), sortingColumn: request.sortingColumn, result };
    },

    async deleteSignIn({ id }, scope) {
      const { instanceId } = scope;
      const at = writeContext(scope);
      // Before any ends: which ones belong together is known by what goes with them.
      const others = (await visits.beside(instanceId, [id])).get(id) ?? [];
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

const idsOf = (rows: readonly SessionRow[]): string[] => rows.map(({ id }) => id);

const byAge = (a: SessionRow, b: SessionRow): number =>
  a.creationDate.getTime() - b.creationDate.getTime() || (a.id < b.id ? -1 : 1);

/** Sessions of one sign-in, the oldest first, and what was seen of their browser. */
function toGetSignIn(sessions: readonly SessionRow[], seen: readonly Visit[]) {
  const [oldest] = sessions;
  if (oldest === undefined) throw new Error("a sign-in has a session");
  const latest = seen.toSorted((a, b) => b.seenAt.getTime() - a.seenAt.getTime())[0];
  const dates = [
    ...sessions.map(({ changeDate }) => changeDate),
    ...seen.map(({ seenAt }) => seenAt),
  ];
  return {
    details: toOrganizationOwnedDetails(oldest),
    userId: oldest.userId,
    ...whereOf(oldest, latest),
    since: timestampFromDate(oldest.creationDate),
    lastSeen: timestampFromDate(new Date(Math.max(...dates.map((date) => date.getTime())))),
    sessionIds: idsOf(sessions),
  };
}

/** Where it is: of a session that no browser of the hosted login has, what its creator says. */
function whereOf({ userAgent }: SessionRow, visit: Visit | undefined): Partial<Seen> {
  if (visit !== undefined) return visit.seen ?? {};
  return userAgent === null ? {} : { browser: userAgent.description, address: userAgent.ip };
}

async function toApps(
  apps: Pick<AppReader, "byClientId">,
  instanceId: string,
  signedIn: readonly SignedInApp[],
): Promise<MessageInitShape<typeof SignedInAppSchema>[]> {
  const byClient = Map.groupBy(signedIn, ({ clientId }) => clientId);
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
