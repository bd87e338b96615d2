import { type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { UserGrantService } from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
import { GetUserGrantSchema } from "#gen/idsvc/resources/grant/v3alpha/user_grant_pb.ts";
import { GetUserSchema } from "#gen/idsvc/resources/user/v3alpha/user_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { CallService, InnerCaller } from "../authz/service.ts";
import { DomainError } from "../errors.ts";
import type { Additions, RunFunction } from "../executor/index.ts";
import { OAuthError } from "../oidc/core/errors.ts";
import type { FunctionContext, Functions } from "../oidc/core/functions.ts";
import type { LoginFunctions } from "../login/index.ts";
import type { At, Users } from "../oidc/core/ports.ts";

type Parts = {
  runFunction: RunFunction;
  call: CallService;
  users: Pick<Users, "metadata" | "organization">;
};

const asService = ({ instanceId, issuer, requestId }: At): InnerCaller => ({
  instanceId,
  issuer,
  requestId,
  as: { system: "function" },
});

/** What executions add to claims of tokens and of userinfo (X7, X12; specification 11.2). */
export function tokenFunctions(parts: Parts): Functions {
  return {
    async add(at, name, context) {
      const functionContext = {
        instanceId: at.instanceId,
        requestId: at.requestId,
        userId: context.user.id,
      };
      const payload = () => payloadOf(parts, at, context);
      const result = parts.runFunction(functionContext, name, payload);
      const additions = await (result instanceof Promise
        ? result.catch((error: unknown) => {
            throw refusedBy(error);
          })
        : result);
      await keepMetadata(parts, at, context.user.id, additions);
      return claimsOf(name, additions);
    },
  };
}

function claimsOf(name: string, { claims, logClaims }: Additions): Record<string, unknown> {
  const added = Object.fromEntries(claims.map(({ key, value }) => [key, value]));
  if (logClaims.length === 0) return added;
  return { ...added, [`urn:idsvc:iam:action:${name}:log`]: logClaims };
}

/** Keeps what targets want to be kept with the user. */
export async function keepMetadata(
  { call }: Pick<Parts, "call">,
  at: At,
  userId: string,
  { metadata }: Additions,
): Promise<void> {
  for (const { key, value } of metadata) {
    const request = { id: userId, key, metadata: { value: Uint8Array.from(value) } };
    await call(UserService.method.setUserMetadata, request, asService(at));
  }
}

/** What targets are told of a user, where an execution wants it. */
export async function userPayload(
  { call, users }: Omit<Parts, "runFunction">,
  at: At,
  user: { id: string; organizationId: string },
): Promise<JsonObject> {
  const caller = asService(at);
  const spelled = { useProtoFieldName: true };
  const found = await call(UserService.method.getUser, { id: user.id }, caller);
  const grants = await call(
    UserGrantService.method.searchUserGrants,
    { filters: [{ filter: { case: "inUserIds", value: { ids: [user.id] } } }] },
    caller,
  );
  const { id, name, primaryDomain } = await users.organization(at, user.organizationId);
  const metadata = Object.entries(await users.metadata(at, user.id)).map(([key, value]) => ({
    key,
    value: Buffer.from(value, "base64url").toString("base64"),
  }));
  return {
    user: found.user === undefined ? null : toJson(GetUserSchema, found.user, spelled),
    user_metadata: metadata,
    org: { id, name, primary_domain: primaryDomain },
    user_grants: grants.result.map((each) => toJson(GetUserGrantSchema, each, spelled)),
  };
}

async function payloadOf(parts: Parts, at: At, context: FunctionContext): Promise<JsonObject> {
  const { user, clientId, actor, claims } = context;
  return {
    // Claims are JSON: they are about to stand in a token or an answer.
    userinfo: JSON.parse(JSON.stringify(claims)) as JsonValue,
    ...(await userPayload(parts, at, user)),
    application: { client_id: clientId },
    ...(actor === undefined ? {} : { actor }),
  };
}

/** What executions do at the points of the login: they see who logs in or registers, may refuse it, and keep values. */
export function loginFunctions(parts: Parts): LoginFunctions {
  const { runFunction } = parts;
  const run = async (
    at: At,
    name: "postauthentication" | "postcreation",
    user: { id: string; organizationId: string },
  ) => {
    const functionContext = { instanceId: at.instanceId, requestId: at.requestId, userId: user.id };
    const additions = await runFunction(functionContext, name, () => userPayload(parts, at, user));
    await keepMetadata(parts, at, user.id, additions);
  };
  return {
    authenticated: (at, user) => run(at, "postauthentication", user),
    async creating(at, user) {
      const functionContext = {
        instanceId: at.instanceId,
        requestId: at.requestId,
        userId: undefined,
      };
      const additions = await runFunction(functionContext, "precreation", async () => ({ user }));
      return (userId) => keepMetadata(parts, at, userId, additions);
    },
    created: (at, user) => run(at, "postcreation", user),
  };
}

/** An execution that does not let it pass: the client hears so, and no more. */
const refusedBy = (error: unknown): unknown =>
  error instanceof DomainError && error.kind !== "internal"
    ? new OAuthError("access_denied", error.message, { cause: error })
    : error;
