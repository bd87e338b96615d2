import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { SetContact } from "#gen/idsvc/resources/user/v3alpha/contact_pb.ts";
import type { PatchUser } from "#gen/idsvc/resources/user/v3alpha/user_pb.ts";
import { requireChosenId } from "../../authz/chosen-id.ts";
import { userOutranksCaller } from "../../authz/holds.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import { loginClient } from "../../authz/roles.ts";
import { type Authorize, authorizeById, type Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { loginSettingsReader } from "../../settings/policy/login.ts";
import { toDetails } from "../object/details.ts";
import { answering, changing } from "../object/plain.ts";
import { mayOn, organizationOf } from "../../authz/tenancy.ts";
import { permissionMissing } from "../../authz/permissions.ts";
import { requireOrganization } from "../org/index.ts";
import { changingUser, inUnit, type UserInUnit } from "./change.ts";
import { linkIdp } from "./idp-link/idp-link.ts";
import { setContact } from "./contact-change.ts";
import { toWantedContact } from "./convert.ts";
import type { Credentials } from "./credentials.ts";
import { idGuard } from "./free-id.ts";
import { settingOf, within } from "./password/set.ts";
import { requirePerson } from "./person.ts";
import { removeWholeUser } from "./remove-user.ts";
import { userQueries } from "./queries.ts";
import {
  activateUser,
  addUser,
  changeData,
  changeExternalId,
  changeUsername,
  deactivateUser,
  lockUser,
  unlockUser,
  user,
  userNotFound,
} from "./user.ts";
import { addCredential } from "./web-authn/new-credential.ts";
import { type Codes } from "./codes.ts";

type Service = typeof UserService;

/** Every method that names a user asks for the same: where they are, and whether they are the caller. */
export function userAuthorize(deps: Deps): Authorize<Service> {
  const { tenancy } = deps;
  const queries = userQueries(deps);
  const policyOf = loginSettingsReader(deps.db);
  const byId = authorizeById(UserService, async ({ id }, scope) => {
    const row = await queries.find(scope.instanceId, id);
    const owned = row && { organizationId: row.organizationId, userId: row.id };
    return tenancy.require(scope, owned, userNotFound);
  });
  return {
    ...byId,
    async createUser({ user: wanted }, scope) {
      const { instanceId, permissions, policy } = scope;
      const organizationId = organizationOf(scope);
      if (mayOn(scope, policy.act, { organizationId })) return;
      // Login clients register people where everybody may register (J2a). Whoever registers has no say in the keys of other systems.
      const isRegistration = wanted?.externalId === undefined;
      if (isRegistration && permissions.holds(loginClient, { type: "instance" })) {
        if ((await policyOf(instanceId, organizationId)).allowRegister) return;
      }
      throw permissionMissing(policy.act);
    },
  };
}

export function userHandlers(credentials: Credentials) {
  const { deps, codes } = credentials;
  const { events, intents, newId, userSchemas } = deps;
  const change = changing(deps, user);
  const chosen = idGuard(deps);

  return {
    async createUser({ user: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the user");
      const organizationId = organizationOf(scope);
      const { userId, username, schemaId = builtIn, data = {}, contact, externalId } = wanted;
      const { password, identityProviders: links = [] } = wanted.authenticators ?? {};
      const field = "user.authenticators.password";
      if (userId !== undefined) requireChosenId(userId, "user.user_id");
      const { passkey } = scope.newcomer ?? {};
      const setting = password && settingOf(credentials, scope.instanceId, password, within(field));
      return answering(deps)(writeContext(scope), async (tx) => {
        await requireOrganization(tx, organizationId);
        const first = await userSchemas.first(tx, schemaId, data);
        if (userId !== undefined) await chosen.requireFree(tx, scope.instanceId, userId);
        const loaded = tx.begin(user, passkey?.userId ?? userId ?? newId());
        const added = addUser(loaded, { ...first, organizationId, username });
        tx.record(user, loaded, added, { type: "org", id: organizationId });
        const one = inUnit(tx, loaded);
        if (externalId !== undefined) one.record(changeExternalId(loaded.state, externalId));
        const made = await setContacts(codes, one, contact, scope);
        if (setting !== undefined) {
          requirePerson(loaded.state);
          await setting.check(loaded.state);
          await setting.set(one);
        }
        for (const { idpId, userId: externalUserId, username: called } of links) {
          await intents.hold(tx, { instanceId: scope.instanceId, organizationId }, idpId);
          await linkIdp(tx, loaded.id, { idpId, externalUserId, username: called });
        }
        if (passkey !== undefined) await addCredential(credentials, one, passkey);
        return { written: tx.written(loaded), ...made };
      });
    },

    async patchUser({ id, user: patch }, scope) {
      if (patch === undefined) throw new Error("validation requires the user");
      return patchUser(credentials, scope, { id, patch });
    },

    deactivateUser: ({ id }, scope) => change(scope, id, deactivateUser),
    activateUser: ({ id }, scope) => change(scope, id, activateUser),
    lockUser: ({ id }, scope) => change(scope, id, lockUser),
    unlockUser: ({ id }, scope) => unlock(credentials, scope, id),

    async deleteUser({ id }, scope) {
      // A key that leaked ends no machine: only people are asked to prove themselves anew (L2).
      const { state } = await events.load(user, scope.instanceId, id);
      const isMachine = state?.schemaType === "machine";
      if (isMachine && !mayOn(scope, scope.policy.act, state)) {
        throw permissionMissing(scope.policy.act);
      }
      return { details: toDetails(await removeWholeUser(credentials, writeContext(scope), id)) };
    },
  } satisfies Partial<Handlers<Service>>;
}

/** Changes what is given. Username, schema and external id are for who may write users, and the data for whom their schema lets. */
const patchUser = (
  { deps, codes }: Credentials,
  scope: Scope,
  { id, patch }: { id: string; patch: PatchUser },
) =>
  changingUser(deps)(scope, id, async (one) => {
    const { tx, loaded, state, record } = one;
    const mayWrite = mayOn(scope, scope.policy.act, state);
    if ([patch.username, patch.schemaId, patch.externalId].some((is) => is !== undefined)) {
      if (!mayWrite) throw permissionMissing(scope.policy.act);
    }
    if (patch.data !== undefined || patch.schemaId !== undefined) {
      const schemaId = patch.schemaId ?? state.schemaId;
      const data = { before: state.data, patch: patch.data ?? {} };
      const as = mayWrite ? "owner" : "self";
      record(changeData(state, await deps.userSchemas.patched(tx, schemaId, data, as)));
    }
    if (patch.username !== undefined) record(changeUsername(loaded.state, patch.username));
    if (patch.externalId !== undefined) record(changeExternalId(loaded.state, patch.externalId));
    return setContacts(codes, one, patch.contact, scope);
  });

/** Unlocks a user, and lifts what throttles the checks of their credentials. */
const unlock = ({ deps, attempts }: Credentials, scope: Scope, id: string) =>
  changingUser(deps)(scope, id, async ({ tx, ref, state, record }) => {
    // Whoever was let through to lift a throttle was not judged for a user who was locked meanwhile.
    const isJudged = scope.guard !== undefined || scope.caller.kind === "system";
    if (state.state === "locked" && !isJudged) throw userOutranksCaller();
    const at = { instanceId: scope.instanceId, now: tx.now };
    const throttling = await attempts.throttling(at, { ...state, id });
    record(unlockUser(state, Object.keys(throttling).length > 0));
    tx.write(...attempts.forgive(ref));
  });

async function setContacts(
  codes: Codes,
  one: UserInUnit,
  contact: SetContact | undefined,
  scope: Scope,
) {
  const { email, phone } = contact ?? {};
  const set = (kind: "email" | "phone", wanted: typeof email | typeof phone) =>
    wanted && setContact(codes, one, toWantedContact(kind, wanted), scope);
  const emailCode = await set("email", email);
  return { emailCode, phoneCode: await set("phone", phone) };
}

const builtIn = "human";
