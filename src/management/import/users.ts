import {
  type UserDeps,
  addUser,
  builtInData,
  changeExternalId,
  deactivateUser,
  humanAdder,
  metadata,
  metadataId,
  requireMachine,
  requireRoom,
  setMetadata,
  user,
  userEvents,
  userIdTaken,
  userNotFound,
} from "../../resources/user/index.ts";
import {
  AccessTokenType,
  type ImportedHuman,
  ImportedHumanSchema,
  ImportedMachineKeySchema,
  ImportedMachineSchema,
  ImportedMetadataSchema,
} from "#gen/idsvc/management/v1/data_pb.ts";
import { requireChosenId } from "../../authz/chosen-id.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { requireOrganization } from "../../resources/org/index.ts";
import { toData, toEmail, toPassword, toPhone } from "../convert.ts";
import { grantRoles } from "./grants.ts";
import { toEnd, toPublicKey } from "./keys.ts";
import { created, existed, kind, type Kind, note, type Ref, refsOfUser } from "./kind.ts";
import { addLink } from "./links.ts";
import { addMemberOf, type MemberPorts } from "./members.ts";
import { newIdGuard } from "./new-id.ts";

/** People and programs, and what is kept with them. */
export const userKinds = (deps: UserDeps, ports: MemberPorts): Kind[] => [
  humanKind(deps, ports),
  machineKind(deps),
  keyKind(deps),
  metadataKind(),
];

const named = { field: "user_id", taken: "USER_ID_TAKEN" };

/** People, with their links, grants and roles. */
function humanKind(deps: UserDeps, ports: MemberPorts): Kind {
  const { newId } = deps;
  const humans = humanAdder(deps);
  const requireNewId = newIdGuard(deps);
  return kind("humanUsers", {
    type: ImportedHumanSchema,
    isIndependent: true,
    idOf: ({ userId }) => userId,
    refs: ({ userId, grants }, orgId) => [
      { type: "organization", id: orgId },
      { type: "user", id: userId, isNew: true },
      ...grants.flatMap(({ projectId, projectGrantId }): Ref[] => [
        { type: "project", id: projectId },
        { type: "projectGrant", id: projectGrantId },
      ]),
    ],
    begin(record, importContext) {
      const { instanceId, orgId } = importContext;
      const { userId, inactive, metadata: metadataEntries, grants, orgRoles } = record;
      const add = humans(instanceId, toHuman(record));
      return async (tx) => {
        if (await isThere(tx, userId, orgId)) return existed;
        await requireNewId(tx, importContext, userId, named);
        const loaded = await add(tx, orgId);
        for (const { key, value } of metadataEntries) await keep(tx, userId, orgId, key, value);
        const at = { instanceId, organizationId: orgId, known: importContext.known };
        for (const link of record.user?.idps ?? []) await addLink(tx, deps, at, userId, link);
        for (const grant of grants)
          await grantRoles(tx, importContext, newId, { ...grant, userId });
        if (orgRoles.length > 0) {
          const context = { type: "organization", organizationId: orgId } as const;
          const member = { userId, roles: orgRoles, context };
          await addMemberOf(tx, importContext, ports, member, "org_roles");
        }
        if (inactive) tx.record(user, loaded, deactivateUser(loaded.state));
        return created(note("user", userId, { orgId }));
      };
    },
  });
}

/** Programs. */
function machineKind(deps: UserDeps): Kind {
  const requireNewId = newIdGuard(deps);
  return kind("machineUsers", {
    type: ImportedMachineSchema,
    isIndependent: true,
    idOf: ({ userId }) => userId,
    refs: ({ userId }, orgId) => [
      { type: "organization", id: orgId },
      { type: "user", id: userId, isNew: true },
    ],
    begin:
      ({ userId, user: wanted, inactive, externalId }, importContext) =>
      async (tx) => {
        const { orgId } = importContext;
        if (wanted === undefined) throw new Error("validation requires what the program is");
        await requireOrganization(tx, orgId);
        if (await isThere(tx, userId, orgId)) return existed;
        await requireNewId(tx, importContext, userId, named);
        const loaded = await tx.load(user, userId);
        const { userName: username, name, description, accessTokenType } = wanted;
        const all = {
          name,
          description,
          access_token_type: accessTokenType === AccessTokenType.JWT ? "jwt" : "",
        };
        const data = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
        const added = addUser(loaded, {
          ...builtInData("machine", data),
          organizationId: orgId,
          username,
        });
        tx.record(user, loaded, added, { type: "org", id: orgId });
        if (externalId !== undefined) {
          tx.record(user, loaded, changeExternalId(loaded.state, externalId));
        }
        if (inactive) tx.record(user, loaded, deactivateUser(loaded.state));
        return created(note("user", userId, { orgId }));
      },
  });
}

/** Public keys of programs. */
const keyKind = ({ now }: Pick<UserDeps, "now">): Kind =>
  kind("machineKeys", {
    type: ImportedMachineKeySchema,
    idOf: ({ keyId }) => keyId,
    refs: ({ userId }, orgId) => refsOfUser(userId, orgId),
    begin({ keyId, userId, publicKey: bytes, expirationDate }, { orgId, known }) {
      const publicKey = toPublicKey(bytes);
      const ends = toEnd(expirationDate, now());
      return async (tx) => {
        const loaded = await requireOwnUser(tx, userId, orgId);
        requireMachine(loaded.state);
        const noteId = `${userId}/${keyId}`;
        const has = loaded.state.authenticators.some(
          ({ kind: of, id }) => of === "key" && id === keyId,
        );
        if (has || (await known.find("machineKey", noteId)) !== undefined) return existed;
        requireChosenId(keyId, "key_id", { allDigits: true });
        requireRoom(loaded.state.authenticators, "key");
        const added = { keyId, publicKey, expirationDate: ends.expirationDate };
        tx.record(user, loaded, [userEvents["machine.key.added"](added)]);
        return created(note("machineKey", noteId));
      };
    },
  });

/** Values that are kept with users. */
const metadataKind = (): Kind =>
  kind("userMetadata", {
    type: ImportedMetadataSchema,
    idOf: ({ userId, key }) => `${userId}/${key}`,
    refs: ({ userId, key }, orgId) => [
      ...refsOfUser(userId, orgId),
      { type: "metadata", id: metadataId(userId, key) },
    ],
    begin:
      ({ userId, key, value }, { orgId, known }) =>
      async (tx) => {
        await requireOwnUser(tx, userId, orgId);
        const id = metadataId(userId, key);
        if ((await known.find("metadata", id)) !== undefined) return existed;
        if (!(await keep(tx, userId, orgId, key, value))) return existed;
        return created(note("metadata", id));
      },
  });

/**
 * Whether the user is here already. Who was deleted does not come back under their id.
 *
 * @throws ALREADY_EXISTS USER_ID_TAKEN for the user of another organization
 */
async function isThere(tx: Transaction, userId: string, orgId: string): Promise<boolean> {
  const { state } = await tx.load(user, userId);
  if (state === undefined) return false;
  if (state.organizationId === orgId) return true;
  throw userIdTaken();
}

/** @throws NOT_FOUND USER_NOT_FOUND also for the user of another organization */
async function requireOwnUser(
  tx: Transaction,
  userId: string,
  orgId: string,
): Promise<Loaded<(typeof user)["initial"]>> {
  await requireOrganization(tx, orgId);
  const loaded = await tx.load(user, userId);
  if (loaded.state?.organizationId !== orgId) throw userNotFound();
  return loaded;
}

/** Keeps a value with a user; false where they have one under the key, which stays. */
async function keep(
  tx: Transaction,
  userId: string,
  orgId: string,
  key: string,
  bytes: Uint8Array,
): Promise<boolean> {
  const loaded = await tx.load(metadata, metadataId(userId, key));
  if (loaded.state !== undefined) return false;
  const value = Buffer.from(bytes).toString("base64");
  const owner = { type: "org" as const, id: orgId };
  tx.record(metadata, loaded, setMetadata(loaded.state, { userId, key, value }), owner);
  return true;
}

function toHuman({ userId, user: wanted, data, notify, externalId }: ImportedHuman) {
  if (wanted === undefined) throw new Error("validation requires who they are");
  const { userName: username, profile, email, phone, password, hashedPassword, otpCode } = wanted;
  const changeRequired = wanted.passwordChangeRequired;
  return {
    userId,
    isSilent: !notify,
    username,
    externalId,
    data: { ...data, ...(profile && toData(profile)) },
    email: email && toEmail(email),
    phone: toPhone(phone, "user.phone.phone"),
    password: toPassword(password, hashedPassword, { changeRequired, prefix: "user." }),
    totpSecret: otpCode === "" ? undefined : otpCode,
    recoveryCodes: wanted.recoveryCodes,
    // Imports are for whoever writes the instance.
    vouched: {},
  };
}
