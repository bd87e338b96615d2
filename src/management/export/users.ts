import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  AccessTokenType,
  type ImportedHumanSchema,
  type ImportedMachineSchema,
} from "#gen/idsvc/management/v1/data_pb.ts";
import type { Deps } from "../../projection/module.ts";
import {
  authenticatorReader,
  type AuthenticatorRow,
  createPasswordStore,
  createTotpStore,
  toIdpLink,
  userMetadata,
  users,
} from "../../resources/user/index.ts";
import type { Row } from "../../storage/table.ts";
import { genderOf, textIn } from "../convert.ts";
import { expiring, type Part } from "./parts.ts";
import { pagesOf } from "../../projection/pages.ts";

// A value may be large.
const valuesAPage = 20;

type UserRow = Row<typeof users>;
type Wanted = { withPasswords: boolean; withOtp: boolean };

/** The users of an organization, and what is kept with them. */
export function usersOf(deps: Deps) {
  const { db, secrets, now } = deps;
  const authenticators = authenticatorReader(db);
  const secretsOf = secretsReader(secrets);

  return async function* (
    instanceId: string,
    organizationId: string,
    wanted: Wanted,
  ): AsyncGenerator<Part> {
    const mine = { organizationId };
    for await (const page of pagesOf(db, users, ["username", "id"], instanceId, mine)) {
      const ids = page.map(({ id }) => id);
      const authenticatorRows = await authenticators.ofUsers(instanceId, ids);
      const humans: MessageInitShape<typeof ImportedHumanSchema>[] = [];
      for (const row of page.filter(({ schemaId }) => schemaId === "human")) {
        humans.push(
          toHuman(row, await secretsOf(row, authenticatorRows.get(row.id) ?? [], wanted)),
        );
      }
      yield { humanUsers: humans };
      const machines = page.filter(({ schemaId }) => schemaId === "machine");
      yield { machineUsers: machines.map(toMachine) };
      yield { userLinks: page.flatMap(({ id }) => toLinks(id, authenticatorRows.get(id) ?? [])) };
      yield {
        machineKeys: machines.flatMap(({ id: userId }) =>
          (authenticatorRows.get(userId) ?? [])
            .filter(({ kind, expiresAt }) => kind === "key" && (expiresAt ?? now()) >= now())
            .toSorted((a, b) => (a.id < b.id ? -1 : 1))
            .map(({ id: keyId, details, expiresAt }) => ({
              keyId,
              userId,
              publicKey: Uint8Array.from(Buffer.from(textIn(details, "publicKey"))),
              ...expiring(expiresAt),
            })),
        ),
      };
    }
    for await (const page of pagesOf(
      db,
      userMetadata,
      ["userId", "id"],
      instanceId,
      mine,
      valuesAPage,
    )) {
      yield { userMetadata: page.map(({ userId, id: key, value }) => ({ userId, key, value })) };
    }
  };
}

/** What of the user's secrets another system could use. A hash of our own needs our key, which never leaves. */
function secretsReader(secrets: Deps["secrets"]) {
  const passwords = createPasswordStore(secrets);
  const totps = createTotpStore(secrets);
  return async (row: UserRow, authenticatorRows: readonly AuthenticatorRow[], wanted: Wanted) => {
    const of = { instanceId: row.instanceId, userId: row.id };
    const password = authenticatorRows.find(({ kind }) => kind === "password");
    const stored =
      wanted.withPasswords && password !== undefined ? await passwords.read(of) : undefined;
    const hash = stored !== undefined && "imported" in stored ? stored.imported : undefined;
    const totp = authenticatorRows.find(({ kind, isVerified }) => kind === "totp" && isVerified);
    const otpCode =
      wanted.withOtp && totp !== undefined ? await totps.read(of, totp.id) : undefined;
    return {
      ...(hash === undefined
        ? {}
        : {
            hashedPassword: { value: hash },
            passwordChangeRequired: password?.isMarked === true,
          }),
      ...(otpCode === undefined ? {} : { otpCode }),
    };
  };
}

const toLinks = (userId: string, authenticatorRows: readonly AuthenticatorRow[]) =>
  authenticatorRows
    .filter(({ kind }) => kind === "idp")
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(toIdpLink)
    .map(({ idpId = "", userId: providedUserId = "", username: providedUserName = "" }) => ({
      userId,
      idpId,
      providedUserId,
      providedUserName,
    }));

export type ExportedMember = Record<
  "contextType" | "contextId" | "projectId" | "userId",
  string
> & { roles: string[] };

export function toMembers(rows: readonly ExportedMember[]): Part {
  const of = (type: string) => rows.filter(({ contextType }) => contextType === type);
  return {
    orgMembers: of("organization").map(({ userId, roles }) => ({ userId, roles })),
    projectMembers: of("project").map(({ projectId, userId, roles }) => ({
      projectId,
      userId,
      roles,
    })),
    projectGrantMembers: of("projectGrant").map(({ projectId, contextId, userId, roles }) => ({
      projectId,
      grantId: contextId,
      userId,
      roles,
    })),
  };
}

function toHuman(row: UserRow, ofSecrets: object): MessageInitShape<typeof ImportedHumanSchema> {
  const { given_name, family_name, nickname, display_name, preferred_language, gender, ...rest } =
    row.data;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const known = genderOf(gender);
  const data = known === undefined && gender !== undefined ? { gender, ...rest } : rest;
  const profile = {
    firstName: text(given_name),
    lastName: text(family_name),
    nickName: text(nickname),
    displayName: text(display_name),
    preferredLanguage: text(preferred_language),
    ...(known === undefined ? {} : { gender: known }),
  };
  return {
    userId: row.id,
    user: {
      userName: row.username,
      profile,
      ...(row.email === null
        ? {}
        : { email: { email: row.email, isEmailVerified: row.isEmailVerified } }),
      ...(row.phone === null
        ? {}
        : { phone: { phone: row.phone, isPhoneVerified: row.isPhoneVerified } }),
      ...ofSecrets,
    },
    ...(Object.keys(data).length === 0 ? {} : { data }),
    inactive: row.state !== "active",
    ...(row.externalId === null ? {} : { externalId: row.externalId }),
  };
}

function toMachine(row: UserRow): MessageInitShape<typeof ImportedMachineSchema> {
  const { name, description, access_token_type } = row.data;
  const isJwt = access_token_type === "jwt";
  return {
    userId: row.id,
    user: {
      userName: row.username,
      name: typeof name === "string" ? name : "",
      description: typeof description === "string" ? description : "",
      accessTokenType: isJwt ? AccessTokenType.JWT : AccessTokenType.BEARER,
    },
    inactive: row.state !== "active",
    ...(row.externalId === null ? {} : { externalId: row.externalId }),
  };
}
