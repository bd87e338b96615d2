import { permissionMissing } from "../../authz/permissions.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import type { MethodRule } from "../method-rule.ts";

/**
 * Refuses callers who hold the method's permission nowhere that could matter (B3). Objects below the
 * instance are checked one by one after validation.
 *
 * @throws PERMISSION_DENIED PERMISSION_MISSING
 */
export const permission = (): InterceptorFactory => (rule) => {
  if (rule.access === "public") return undefined;
  return {
    check(call) {
      const missing = missingPermission(rule, call);
      if (missing === undefined) return;
      throw permissionMissing(missing);
    },
  };
};

function missingPermission(rule: MethodRule, call: Call): string | undefined {
  const { permissions, context, caller } = call;
  // What a system caller may do in the system, they may do to each of its instances.
  const fromAbove = caller?.kind === "system" && rule.systemPermission !== "";
  if (context.type === "system" || fromAbove) {
    const needed = rule.systemPermission === "" ? rule.permission : rule.systemPermission;
    return permissions.holds(needed, { type: "system" }) ? undefined : needed;
  }
  if (rule.access === "authenticated") return undefined;
  const isGranted =
    rule.permissionContext === "anywhere"
      ? permissions.holdsAnywhere(rule.permission)
      : permissions.holds(rule.permission, { type: rule.permissionContext });
  return isGranted ? undefined : rule.permission;
}
