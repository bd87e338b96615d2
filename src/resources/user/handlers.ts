import type { JsonObject } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { SetContact } from "#gen/idsvc/resources/user/v3alpha/contact_pb.ts";
import { requireChosenId } from "../../authz/chosen-id.ts";
import { userOutranksCaller } from "../../authz/holds.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import { loginClient } from "../../authz/roles.ts";
import { type Authorize, authorizeById, type Handlers } from "../../authz/service.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import { execute, type Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { loginSettingsReader } from "../../settings/login/index.ts";
import { eventFormatter, objectHistory, originFormatter, toEvent } from "../event/index.ts";
import { requireIdp } from "../idp/index.ts";
import { toDetails, toListDetails } from "../object/details.ts";
import { lastUses } from "../object/credential-uses.ts";
import { toPage } from "../object/list.ts";
import { callerId, mayOn, organizationOf } from "../../authz/tenancy.ts";
import { permissionMissing } from "../../authz/permissions.ts";
import { requireOrganization, verifiedDomains } from "../org/index.ts";
import {
  patchedData,
  readableData,
  requireData,
  requireSchema,
  schemaById,
  type UserSchema,
} from "../userschema/index.ts";
import { type LastUse, toAuthenticators } from "./authenticator/convert.ts";
import type { AuthenticatorRow } from "./authenticator/queries.ts";
import { checks, type Throttling } from "./check/attempts.ts";
import { linkIdp } from "./idp-link/idp-link.ts";
import { setContact } from "./contact-change.ts";
import { toGetUser, toWantedContact } from "./convert.ts";
import type { Credentials } from "./credentials.ts";
import type { UserEvent } from "./events.ts";
import { idGuard } from "./free-id.ts";
import { homesReader } from "./homes.ts";
import { settingOf, within } from "./password/set.ts";
import { requirePerson } from "./person.ts";
import { removeWholeUser } from "./remove-user.ts";
import { type UserRow, userQueries } from "./queries.ts";
import {
  activateUser,
  addUser,
  changeData,
  changeUsername,
  deactivateUser,
  lockUser,
  type User,
  unlockUser,
  user,
  userNotFound,
} from "./user.ts";

type Service = typeof UserService;
export type UserMethods =
  | "createUser"
  | "patchUser"
  | "deactivateUser"
  | "activateUser"
  | "lockUser"
  | "unlockUser"
  | "deleteUser"
  | "getUser"
  | "searchUsers"
  | "searchUserEvents";

/** Every method that names a user asks for the same: where they are, and whether they are the caller. */
export function userAuthorize(deps: Deps): Authorize<Service> {
  const { tenancy } = deps;
  const queries = userQueries(deps, tenancy);
  const policyOf = loginSettingsReader(deps.db);
  const byId = authorizeById(UserService, async ({ id }, scope) => {
    const row = await queries.find(scope.instanceId, id);
    const owned =
      row === undefined ? undefined : { organizationId: row.organizationId, userId: row.id };
    return tenancy.require(scope, owned, userNotFound);
  });
  return {
    ...byId,
    async createUser(_, scope) {
      const { instanceId, permissions, policy } = scope;
      const organizationId = organizationOf(scope);
      if (mayOn(scope, policy.act, { organizationId })) return;
      // Login clients register people where everybody may register (J2a).
      if (permissions.holds(loginClient, { type: "instance" })) {
        if ((await policyOf(instanceId, organizationId)).allowRegister) return;
      }
      throw permissionMissing(policy.act);
    },
  };
}

export function userHandlers(credentials: Credentials): Pick<Handlers<Service>, UserMethods> {
  const { deps, codes, attempts, authenticators } = credentials;
  const { db, events, newId, now } = deps;
  const { tenancy } = deps;
  const queries = userQueries(deps, tenancy);
  const domainsOf = verifiedDomains(db);
  const chosen = idGuard(deps);
  const history = objectHistory(deps);
  const formatterFor = eventFormatter(db);
  const originsFor = originFormatter(deps, homesReader(db));

  return {
    async createUser({ user: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the user");
      const organizationId = organizationOf(scope);
      const { userId, username, schemaId = builtIn, data = {}, contact } = wanted;
      const { password, identityProviders: links = [] } = wanted.authenticators ?? {};
      const field = "user.authenticators.password";
      if (userId !== undefined) requireChosenId(userId, "user.user_id");
      const setting = password && settingOf(credentials, scope.instanceId, password, within(field));
      const [written, response] = await events.transact(writeContext(scope), async (tx) => {
        await requireOrganization(tx, organizationId);
        const schema = await requireSchema(tx, schemaId);
        requireData(schema, data, "owner");
        if (userId !== undefined) await chosen.requireFree(tx, scope.instanceId, userId);
        const loaded = tx.begin(user, userId ?? newId());
        const added = addUser(loaded, { ...asData(schema, data), organizationId, username });
        tx.record(user, loaded, added, { type: "org", id: organizationId });
        const made = await setContacts(tx, loaded, contact, { scope });
        if (setting !== undefined) {
          requirePerson(loaded.state);
          await setting.check(loaded.state);
          await setting.set(tx, loaded);
        }
        for (const { idpId, userId: externalUserId, username: called } of links) {
          await requireIdp(db, tx, { instanceId: scope.instanceId, organizationId }, idpId);
          await linkIdp(tx, loaded.id, { idpId, externalUserId, username: called });
        }
        return [tx.written(loaded), made];
      });
      return { details: toDetails(written()), ...response };
    },

    async patchUser({ id, user: patch }, scope) {
      if (patch === undefined) throw new Error("validation requires the user");
      const [written, response] = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        const { state } = loaded;
        if (state === undefined) throw userNotFound();
        const mayWrite = mayOn(scope, scope.policy.act, state);
        if (patch.username !== undefined || patch.schemaId !== undefined) {
          if (!mayWrite) throw permissionMissing(scope.policy.act);
        }
        if (patch.data !== undefined || patch.schemaId !== undefined) {
          const schema = await requireSchema(tx, patch.schemaId ?? state.schemaId);
          const as = mayWrite ? "owner" : "self";
          const data = patchedData(schema, state.data, patch.data ?? {}, as);
          tx.record(user, loaded, changeData(state, asData(schema, data)));
        }
        if (patch.username !== undefined) {
          tx.record(user, loaded, changeUsername(loaded.state, patch.username));
        }
        const made = await setContacts(tx, loaded, patch.contact, { scope });
        return [tx.written(loaded), made];
      });
      return { details: toDetails(written()), ...response };
    },

    deactivateUser: change(deactivateUser),
    activateUser: change(activateUser),
    lockUser: change(lockUser),
    async unlockUser({ id }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        if (loaded.state === undefined) throw userNotFound();
        const { state, organizationId } = loaded.state;
        // Whoever was let through to lift a throttle was not judged for a user who was locked meanwhile.
        const isJudged = scope.guard !== undefined || scope.caller.kind === "system";
        if (state === "locked" && !isJudged) throw userOutranksCaller();
        const at = { instanceId: scope.instanceId, now: tx.now };
        const throttling = await attempts.throttling(at, { id, organizationId });
        tx.record(user, loaded, unlockUser(loaded.state, Object.keys(throttling).length > 0));
        tx.write(...attempts.forgive({ instanceId: scope.instanceId, userId: id }));
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async deleteUser({ id }, scope) {
      return { details: toDetails(await removeWholeUser(credentials, writeContext(scope), id)) };
    },

    async getUser({ id }, scope) {
      const row = await queries.find(scope.instanceId, id);
      if (row === undefined) throw userNotFound();
      const authenticatorRows = await authenticators.ofUser(scope.instanceId, id);
      const { instanceId } = scope;
      const throttling = await attempts.throttling({ instanceId, now: now() }, row);
      const lastUse = await usesOf(instanceId, authenticatorRows);
      return { user: await show(scope, row, authenticatorRows, { throttling, lastUse }) };
    },

    async searchUsers({ query, sortingColumn, filters }, scope) {
      const found = await queries.search(scope, { filters, sortingColumn, page: toPage(query) });
      const ids = found.rows.map(({ id }) => id);
      const authenticatorRows = await authenticators.ofUsers(scope.instanceId, ids);
      const lastUse = await usesOf(scope.instanceId, [...authenticatorRows.values()].flat());
      const shown = found.rows.map((row) =>
        show(scope, row, authenticatorRows.get(row.id), { lastUse: lastUse }),
      );
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
  };

  function change(decide: (state: User | undefined) => UserEvent[]) {
    return async ({ id }: { id: string }, scope: Scope) => {
      const written = await execute(events.transact, writeContext(scope), user, { id }, decide);
      return { details: toDetails(written) };
    };
  }

  async function setContacts(
    tx: Transaction,
    loaded: Loaded<User | undefined>,
    contact: SetContact | undefined,
    by: { scope: Scope },
  ) {
    const { email, phone } = contact ?? {};
    const set = (kind: "email" | "phone", wanted: typeof email | typeof phone) =>
      wanted === undefined
        ? undefined
        : setContact(codes, tx, loaded, toWantedContact(kind, wanted), by);
    const [emailCode, phoneCode] = [await set("email", email), await set("phone", phone)];
    return {
      ...(emailCode === undefined ? {} : { emailCode }),
      ...(phoneCode === undefined ? {} : { phoneCode }),
    };
  }

  async function usesOf(
    instanceId: string,
    authenticatorRows: readonly AuthenticatorRow[],
  ): Promise<LastUse> {
    const standing = authenticatorRows.filter(
      ({ kind }) => kind === "pat" || kind === "key" || kind === "secret",
    );
    const ids = standing.map(({ userId }) => userId);
    const last = await lastUses(deps.db, instanceId, ids);
    return ({ userId: ownerId, kind, id }) => last({ ownerId, kind, id });
  }

  // What the schema lets the reader see: the user, or who may read users of their organization.
  async function show(
    scope: Scope,
    row: UserRow,
    authenticatorRows: readonly AuthenticatorRow[] = [],
    {
      throttling = {},
      lastUse = () => undefined,
    }: { throttling?: Throttling; lastUse?: LastUse } = {},
  ) {
    const { instanceId, policy } = scope;
    const schema = await schemaById(deps, instanceId, row.schemaId);
    const isSelf = row.id === callerId(scope) && !mayOn(scope, policy.read, row);
    const data =
      schema === undefined ? {} : readableData(schema, row.data, isSelf ? "self" : "owner");
    const domains = await domainsOf(instanceId, row.organizationId);
    const shown = {
      domains,
      data,
      throttling,
      authenticators: toAuthenticators(authenticatorRows, lastUse),
    };
    return toGetUser(row, shown);
  }
}

const builtIn = "human";

const asData = (schema: UserSchema, data: JsonObject) => ({
  schemaId: schema.id,
  schemaType: schema.type,
  schemaRevision: schema.revision,
  data,
});
