import { editorOf, type Scope } from "../../authz/context.ts";
import { permissionMissing } from "../../authz/permissions.ts";
import { credentialWriter } from "../../authz/roles.ts";
import { callerId, mayOn } from "../../authz/tenancy.ts";
import type { UserDeps } from "../user/index.ts";
import type { Session } from "./session.ts";
import { stepUp } from "./step-up.ts";
import { sessionTokenKind } from "./token.ts";

type Patched<U> = { id: string; creatorId: string; user: U | undefined };

/** Whether a session is the one whose token the caller calls with. */
export const isCalledWith = (id: string, { caller }: Scope): boolean =>
  caller.kind === "user" &&
  caller.tokenKind === sessionTokenKind &&
  caller.authentication?.sessionId === id;

/**
 * Whether the token that a change answers with lets the caller act as somebody by proofs that were never given to them (J1):
 * those of a session that they neither call with nor made for its user.
 */
export const handsOver = (
  { id, user, creatorId }: Patched<{ id: string }>,
  scope: Scope,
): boolean =>
  user !== undefined &&
  !isCalledWith(id, scope) &&
  (user.id === callerId(scope) || creatorId !== editorOf(scope.caller));

/**
 * Who may have the token of a session whose proofs were given elsewhere: its user, who has proven themselves lately (L2), and who may
 * write credentials of its user (J2a). That they cover the user is judged as a hold.
 *
 * @throws UNAUTHENTICATED STEP_UP_REQUIRED
 * @throws PERMISSION_DENIED PERMISSION_MISSING
 */
export function patchRight(deps: UserDeps) {
  const { require: requireStepUp } = stepUp(deps);
  return async (scope: Scope, patched: Patched<NonNullable<Session["user"]>>): Promise<void> => {
    const { user } = patched;
    if (scope.caller.kind === "system" || user === undefined || !handsOver(patched, scope)) return;
    if (user.id === callerId(scope)) return requireStepUp(scope);
    const owned = { organizationId: user.organizationId, userId: user.id };
    if (!mayOn(scope, credentialWriter, owned)) throw permissionMissing(credentialWriter);
  };
}
