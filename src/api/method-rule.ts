import { type DescMethod, type DescService, getOption, hasOption } from "@bufbuild/protobuf";
import {
  Holds,
  JsonNames,
  method as methodOptions,
  type MethodOptions,
  PermissionContext,
  UnfinishedSession,
  service as serviceOptions,
  type ServiceOptions,
} from "#gen/idsvc/options/v1/options_pb.ts";
import type { ObjectPolicy } from "../authz/context.ts";
import type { HoldKind } from "../authz/holds.ts";
import { knownPermissions } from "../authz/roles.ts";

/** What methods are called that change nothing. */
export const reading =
  /^(?:Get|Search|List|Resolve|Preview|Match|Validate|Export|Report|Watch)[A-Z]/;

/** What the schema says of a method; read once, at start. */
export type MethodRule = {
  method: DescMethod;
  /** `/<package>.<Service>/<Method>` */
  path: string;
  /** It does more than read. */
  isChange: boolean;
  access: "public" | "authenticated" | "permission";
  permission: string;
  systemPermission: string;
  /** What is needed on the object that the request names. */
  policy: ObjectPolicy;
  permissionContext: "anywhere" | "instance" | "system";
  /** Which hold on users the method gives or takes. */
  holds: HoldKind | undefined;
  /** A login client may do this for the user of a session, or for one whom it registered (option `session_acts`). */
  sessionActs: boolean;
  /** What the bearer of a session may do with it although it does not satisfy the login settings yet. */
  unfinishedSession: UnfinishedUse | undefined;
  /** A user who does this to their own account must have authenticated lately. */
  stepUp: boolean;
  feature: string;
  successStatus: number;
  timeoutMs: number;
  maxBodyBytes: number;
  /** Over REST the handler reads the body as it comes. */
  streamsBody: boolean;
  executionsExempt: boolean;
  jsonNames: "proto" | "lowerCamel";
  ignoreUnknownFields: boolean;
  /** A request whose context is the system is invalid. */
  noSystemContext: boolean;
};

const permissionContexts = {
  [PermissionContext.UNSPECIFIED]: "anywhere",
  [PermissionContext.INSTANCE]: "instance",
  [PermissionContext.SYSTEM]: "system",
} as const;

export type UnfinishedUse = "ownSession" | "ownUser" | "firstOfKind" | "passwordDue";

const unfinishedUses: Readonly<Record<UnfinishedSession, UnfinishedUse | undefined>> = {
  [UnfinishedSession.UNSPECIFIED]: undefined,
  [UnfinishedSession.OWN_SESSION]: "ownSession",
  [UnfinishedSession.OWN_USER]: "ownUser",
  [UnfinishedSession.FIRST_OF_KIND]: "firstOfKind",
  [UnfinishedSession.PASSWORD_DUE]: "passwordDue",
};

/** What a method demands on the objects that it is about. */
export const policyOf = (method: DescMethod): ObjectPolicy =>
  methodRule(method, { timeoutMs: 0, maxBodyBytes: 0 }).policy;

const holdKinds: Readonly<Record<Holds, HoldKind | undefined>> = {
  [Holds.UNSPECIFIED]: undefined,
  [Holds.TAKE_OVER]: "takeOver",
  [Holds.GIVE_BACK]: "giveBack",
  [Holds.SHUT_OUT]: "shutOut",
  [Holds.REMOVE_FACTOR]: "removeFactor",
  [Holds.USERS_OF_ORGANIZATION]: "usersOfOrganization",
  [Holds.USERS_OF_PROVIDER]: "usersOfProvider",
  [Holds.EVERYBODY]: "everybody",
};

const ofMethods = new Map<DescMethod, MethodOptions | undefined>();
const ofServices = new Map<DescService, ServiceOptions>();

/** What the schema says of a method, which is decoded once a process. */
function optionsOf(method: DescMethod): MethodOptions | undefined {
  if (!ofMethods.has(method)) {
    const options = hasOption(method, methodOptions) ? getOption(method, methodOptions) : undefined;
    ofMethods.set(method, options);
  }
  return ofMethods.get(method);
}

/** What it says of a service. */
function serviceOptionsOf(service: DescService): ServiceOptions {
  let options = ofServices.get(service);
  if (options === undefined)
    ofServices.set(service, (options = getOption(service, serviceOptions)));
  return options;
}

/**
 * Reads the options of a method.
 *
 * @throws Error when the method states no permission, or one that no role gives: the server must not start (A2).
 */
export function methodRule(
  method: DescMethod,
  defaults: { timeoutMs: number; maxBodyBytes: number },
): MethodRule {
  const path = `/${method.parent.typeName}/${method.name}`;
  const options = optionsOf(method);
  if (options === undefined || options.permission === "") {
    throw new Error(
      `method ${path} states no permission: set (idsvc.options.v1.method).permission`,
    );
  }
  const { permission, systemPermission, objectPermission, readPermission, instancePermission } =
    options;
  const access =
    permission === "public" || permission === "authenticated" ? permission : "permission";
  const ofAll = access === "permission" ? permission : "";
  for (const named of [
    ofAll,
    systemPermission,
    objectPermission,
    readPermission,
    instancePermission,
  ]) {
    if (named !== "" && !knownPermissions.has(named)) {
      throw new Error(`method ${path} asks for ${named}, which no role gives`);
    }
  }
  const ofService = serviceOptionsOf(method.parent);
  const seconds = options.timeout === undefined ? 0 : Number(options.timeout.seconds);
  return {
    method,
    path,
    isChange: !reading.test(method.name),
    access,
    permission,
    systemPermission,
    policy: {
      act: objectPermission || ofAll,
      read: readPermission || objectPermission || ofAll,
      ownData: options.ownData,
      onInstance: instancePermission || objectPermission || ofAll,
    },
    permissionContext: permissionContexts[options.permissionContext],
    holds: holdKinds[options.holds],
    sessionActs: options.sessionActs,
    unfinishedSession: unfinishedUses[options.unfinishedSession],
    stepUp: options.stepUp,
    feature: options.feature,
    successStatus: options.successCode === 0 ? 200 : options.successCode,
    timeoutMs: seconds === 0 ? defaults.timeoutMs : seconds * 1000,
    maxBodyBytes: options.maxBody === 0n ? defaults.maxBodyBytes : Number(options.maxBody),
    streamsBody: options.streamBody,
    executionsExempt: options.executionsExempt,
    jsonNames: ofService.jsonNames === JsonNames.LOWER_CAMEL ? "lowerCamel" : "proto",
    ignoreUnknownFields: ofService.ignoreUnknownFields,
    // What every caller may call asks for no permission that could be held in the system.
    noSystemContext:
      ofService.noSystemContext || (access === "authenticated" && systemPermission === ""),
  };
}
