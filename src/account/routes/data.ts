import {
  type DescMessage,
  type DescMethodUnary,
  type JsonValue,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { GetUserSchema } from "#gen/idsvc/resources/user/v3alpha/user_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { paths } from "../../login/paths.ts";
import { type Route, valueOf } from "../../login/route.ts";
import type { LoginAnswer } from "../../login/web.ts";
import { type AccountParts, atMost, type Own, ownRoute } from "../own.ts";
import { dataPage, deletePage } from "../pages/data.ts";
import { accountPaths } from "../paths.ts";
import { tried } from "../problems.ts";

const ofOnePage = 500;
// Strangers who guess passwords make events too: more would cost more than anybody reads.
const mostEvents = 10_000;

/** Everything of the account as a file, and its end. */
export function dataRoutes(parts: AccountParts): Route[] {
  return [
    ownRoute(parts, {
      path: accountPaths.data,
      async get(own) {
        if (own.context.query.get("as") === "file") return asFile(await allOf(parts, own));
        return own.show(dataPage);
      },
    }),
    ownRoute(parts, {
      path: accountPaths.remove,
      get: (own) => own.show(deletePage),
      async post(own) {
        const { context, user } = own;
        if (valueOf(context, "sure") === "") {
          return context.again({ problems: [{ code: "NOT_CONFIRMED", field: "sure" }] });
        }
        const problems = await tried(() =>
          own.call(UserService.method.deleteUser, { id: user.id }),
        );
        if (problems.length > 0) return context.again({ problems });
        await context.renew(context.agent.sessionIds.filter((id) => id !== own.session.id));
        return own.done(paths.loggedOut, "ACCOUNT_DELETED");
      },
    }),
  ];
}

type Query = { limit: number; offset: bigint };

/** All that the API tells the person of themselves. */
async function allOf(parts: AccountParts, own: Own): Promise<Record<string, JsonValue>> {
  const { call, user, context } = own;
  const { id } = user;
  const limit = atMost(parts, ofOnePage);
  const every = <M extends DescMethodUnary>(
    method: M,
    search: (method: M, query: Query) => Promise<MessageShape<M["output"]>>,
  ) =>
    allParts(limit, async (offset) => {
      const answer = await search(method, { limit, offset: BigInt(offset) });
      return resultOf(written(method.output, answer));
    });
  const read = await call(UserService.method.getUser, { id });
  const metadata = await every(UserService.method.searchUserMetadata, (method, query) =>
    call(method, { id, query }),
  );
  const grants = await allParts(limit, (offset) =>
    parts.grantedRoles.written(own, { limit, offset }),
  );
  const sessions = await every(SessionService.method.searchSessions, (method, query) =>
    call(method, { query, filters: [{ filter: { case: "userId", value: id } }] }),
  );
  const consents = await allParts(limit, (offset) =>
    parts.allowedApps.written(own, { limit, offset }),
  );
  const events = await every(UserService.method.searchUserEvents, (method, query) =>
    call(method, { id, query, withChecks: true }),
  );
  const all = await parts.deps.memberships.ofUser(context.at.instanceId, id);
  const memberships = all.map(({ contextType, contextId, roles }) => ({
    context_type: contextType,
    context_id: contextId,
    roles: [...roles],
  }));
  const isComplete = events.length < mostEvents;
  return {
    is_complete: isComplete,
    user: read.user === undefined ? null : written(GetUserSchema, read.user),
    metadata,
    memberships,
    user_grants: grants,
    sessions,
    consents,
    events,
  };
}

async function allParts(
  limit: number,
  partFrom: (offset: number) => Promise<readonly JsonValue[]>,
): Promise<JsonValue[]> {
  const all: JsonValue[] = [];
  while (all.length < mostEvents) {
    const part = await partFrom(all.length);
    all.push(...part);
    if (part.length < limit) break;
  }
  return all;
}

const written = <D extends DescMessage>(schema: D, message: MessageShape<D>): JsonValue =>
  toJson(schema, message, { useProtoFieldName: true });

/** What a search found. An empty list is left out of JSON. */
const resultOf = (answer: JsonValue): readonly JsonValue[] => {
  const { result = [] }: { result?: JsonValue[] } = Object(answer);
  return result;
};

const asFile = (all: Record<string, JsonValue>): LoginAnswer => ({
  status: 200,
  headers: {
    "content-type": "application/json",
    "content-disposition": 'attachment; filename="account.json"',
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  },
  body: `${JSON.stringify(all, null, 2)}\n`,
});
