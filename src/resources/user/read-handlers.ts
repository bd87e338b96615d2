import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Credentials } from "./credentials.ts";
import { userQueries, type UserRow } from "./queries.ts";
import { toListDetails } from "../object/details.ts";
import { toPage } from "../object/list.ts";
import { lastUses } from "../object/credential-uses.ts";
import { type LastUse, toAuthenticators } from "./authenticator/convert.ts";
import { type Database } from "../../storage/database.ts";
import { user } from "./user.ts";
import { checks, type Throttling } from "./check/attempts.ts";
import { toEvent } from "../history/convert.ts";
import { eventFormatter } from "../history/event-formatter.ts";
import { objectHistory } from "../history/log-reader.ts";
import { originFormatter } from "../history/origins.ts";
import { toGetUser } from "./convert.ts";
import { type Scope } from "../../authz/context.ts";
import { type AuthenticatorRow } from "./authenticator/queries.ts";
import type { UserDeps } from "./ports.ts";
import { homesReader } from "./homes.ts";
import { readableDataOf } from "./readable.ts";
import { verifiedDomains } from "../org/index.ts";

/** What is told of users, and of what happened to them. */
export function userReadHandlers({ deps, attempts, authenticators }: Credentials) {
  const { db, now } = deps;
  const queries = userQueries(deps);
  const history = objectHistory(deps);
  const formatterFor = eventFormatter(db);
  const originsFor = originFormatter(deps, homesReader(db));
  const show = presenter(deps);
  const usesOf = useReader(db);

  return {
    async getUser({ id }, scope) {
      const { instanceId } = scope;
      const row = await queries.get(instanceId, id);
      const rows = await authenticators.ofUser(instanceId, id);
      const throttling = await attempts.throttling({ instanceId, now: now() }, row);
      return { user: await show(scope, row, rows, await usesOf(instanceId, rows), throttling) };
    },

    async searchUsers(request, scope) {
      const { sortingColumn } = request;
      const found = await queries.search(scope, request);
      const ids = found.rows.map(({ id }) => id);
      const rowsOf = await authenticators.ofUsers(scope.instanceId, ids);
      const lastUse = await usesOf(scope.instanceId, [...rowsOf.values()].flat());
      const shown = found.rows.map((row) => show(scope, row, rowsOf.get(row.id) ?? [], lastUse));
      const result = await Promise.all(shown);
      return { details: toListDetails(found), sortingColumn, result };
    },

    async searchUserEvents({ id, query, withChecks }, scope) {
      const { instanceId } = scope;
      const types = withChecks ? [user.type, checks.type] : [user.type];
      const found = await history({ instanceId, types, id }, toPage(query));
      const format = await formatterFor(scope);
      const originOf = await originsFor(scope, instanceId, found.rows);
      const result = found.rows.map((row) => toEvent(row, format, originOf(row)));
      return { details: toListDetails(found), result };
    },
  } satisfies Partial<Handlers<typeof UserService>>;
}

// Those of which each use is noted.
const kinds: ReadonlySet<string> = new Set(["pat", "key", "secret", "web_authn"]);

const useReader =
  (db: Database) =>
  async (instanceId: string, authenticatorRows: readonly AuthenticatorRow[]): Promise<LastUse> => {
    const noted = authenticatorRows.filter(({ kind }) => kinds.has(kind));
    const ids = noted.map(({ userId }) => userId);
    const last = await lastUses(db, instanceId, ids);
    return ({ userId: ownerId, kind, id }) => last({ ownerId, kind, id });
  };

function presenter({ db, userSchemas }: Pick<UserDeps, "db" | "userSchemas">) {
  const domainsOf = verifiedDomains(db);
  const readable = readableDataOf({ userSchemas });
  return async (
    scope: Scope,
    row: UserRow,
    rows: readonly AuthenticatorRow[],
    lastUse: LastUse,
    throttling: Throttling = {},
  ) =>
    toGetUser(row, {
      domains: await domainsOf(scope.instanceId, row.organizationId),
      data: await readable(scope, row),
      throttling,
      authenticators: toAuthenticators(rows, lastUse),
    });
}
