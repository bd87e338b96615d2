import { coversEverybody } from "../../authz/holds.ts";
import type { Scope } from "../../authz/context.ts";
import { limitNames } from "../../authz/limited.ts";
import { knownPermissions } from "../../authz/roles.ts";
import { invalidField, permissionDenied } from "../../errors.ts";
import { type App, type AppEvent, appEvents, appNotFound } from "./application.ts";
import type { ApiAccess, OidcConfig } from "./config.ts";

/** Who changes the app, and by what. */
type By = Pick<Scope, "permissions" | "caller">;

/** An app whose access ended, or was never given: only what people of its own organization can give it counts. */
const gives = ({ permissions, instance, organizationIds, trusted }: ApiAccess): boolean =>
  trusted || (permissions.length > 0 && (instance || organizationIds.length > 0));

/**
 * Whether the caller may do at the instance all that the access gives: the one who does may give it, and may change what
 * answers for an app that has it (J4, J19).
 */
export const coversAccess = ({ permissions, caller }: By, access: ApiAccess): boolean => {
  if (coversEverybody(permissions)) return true;
  const limit = caller.kind === "user" ? caller.limit : undefined;
  const there = { type: "instance" } as const;
  return (
    !access.trusted &&
    access.permissions.every(
      (name) =>
        permissions.holds(name, there) && (limit === undefined || limitNames(limit, name, there)),
    )
  );
};

/**
 * Gives another access, or takes it away; what was there from before ends with it.
 *
 * @throws PERMISSION_DENIED API_ACCESS_OUTRANKS_CALLER, APP_OUTRANKS_CALLER
 * @throws INVALID_ARGUMENT PERMISSION_UNKNOWN
 */
export function changeApiAccess(
  state: App | undefined,
  wanted: ApiAccess,
  by: By & { isLegacy: boolean },
): AppEvent[] {
  if (state === undefined) throw appNotFound();
  const unknown = wanted.permissions.find((name) => name !== "*" && !knownPermissions.has(name));
  if (unknown !== undefined) {
    throw invalidField(
      "app.api_access.permissions",
      "PERMISSION_UNKNOWN",
      "must be names of permissions that roles give, or *",
    );
  }
  const { apiAccess: before, clientId } = state;
  if (before !== undefined) requireCoversApp(state, by);
  const access = gives(wanted) ? wanted : undefined;
  if (access !== undefined && !coversAccess(by, access)) {
    throw permissionDenied(
      "API_ACCESS_OUTRANKS_CALLER",
      "nobody gives an app more than they may do themselves at the instance",
    );
  }
  if (!by.isLegacy && sameAccess(before, access)) return [];
  return [
    appEvents["api_access.changed"]({ clientId, ...(access === undefined ? {} : { access }) }),
  ];
}

function sameAccess(one: ApiAccess | undefined, other: ApiAccess | undefined): boolean {
  return JSON.stringify(inOrder(one)) === JSON.stringify(inOrder(other));
}

const inOrder = (access: ApiAccess | undefined) =>
  access && [
    access.permissions.toSorted(),
    access.instance,
    access.organizationIds.toSorted(),
    access.trusted,
  ];

/**
 * Whoever changes what answers for an app, holds the tokens that it gets: only who may do what they may do.
 *
 * @throws PERMISSION_DENIED APP_OUTRANKS_CALLER
 */
export function requireCoversApp(state: App | undefined, by: By): void {
  const access = state?.apiAccess;
  if (access === undefined || coversAccess(by, access)) return;
  throw permissionDenied(
    "APP_OUTRANKS_CALLER",
    "the app has an access to the APIs of the service that the caller lacks: only who may do all of it can change what answers for it",
  );
}

/** What answers for an app: who changes it decides where its tokens go (J19). */
const answering: readonly (keyof OidcConfig)[] = [
  "redirectUris",
  "authMethodType",
  "responseTypes",
  "grantTypes",
];

/** Whether what answers for the app differs, and whether something new answers for it. */
export function answersChanged(
  { config: before }: Pick<App, "config">,
  { config: after }: Pick<App, "config">,
): { differs: boolean; isNew: boolean } {
  if (before.kind === "api" || after.kind === "api") {
    const differs =
      before.kind === "api" &&
      after.kind === "api" &&
      before.api.authMethodType !== after.api.authMethodType;
    return { differs, isNew: differs };
  }
  const [was, is] = [before.oidc, after.oidc];
  const differs = answering.some((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  const isNew =
    is.redirectUris.some((uri) => !was.redirectUris.includes(uri)) ||
    was.authMethodType !== is.authMethodType;
  return { differs, isNew };
}

/** What a change of what answers for the app brings with it. */
export function afterAnswersChanged(
  state: App | undefined,
  change: { isNew: boolean; staysBeside: boolean },
  by: By & { isLegacy: boolean },
): AppEvent[] {
  if (state === undefined) throw appNotFound();
  const { clientId } = state;
  const isOwner = coversEverybody(by.permissions);
  return [
    ...(state.isOwnerMade === true && !isOwner
      ? [appEvents["maker.changed"]({ isOwner: false })]
      : []),
    ...(by.isLegacy && !isOwner ? [appEvents["api_access.changed"]({ clientId })] : []),
    ...(change.isNew && !(change.staysBeside && isOwner)
      ? [appEvents["consents.ended"]({ clientId })]
      : []),
  ];
}
