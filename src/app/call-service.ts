import {
  create,
  type DescMethodUnary,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { methodRule } from "../api/method-rule.ts";
import { type Judge, requireValid } from "../api/validation.ts";
import type { Scope } from "../authz/context.ts";
import { noPermissions, type Permissions, permissionsFrom } from "../authz/permissions.ts";
import { responseOf } from "../authz/response-cache.ts";
import type { CallService, InnerCaller, ServiceBinding } from "../authz/service.ts";

// Everything in an instance, and nothing beyond it.
const servicePermissions = permissionsFrom([
  { contextType: "instance", contextId: "", roles: ["IAM_OWNER"] },
]);

const belowInstance: Permissions = {
  ...servicePermissions,
  holds: (permission, resourceScope) =>
    resourceScope.type !== "instance" && servicePermissions.holds(permission, resourceScope),
};

/** What lets parts of the service call its methods without a connection. */
export function createCallService(
  bindings: readonly ServiceBinding[],
  judge: Judge,
  defaults: { timeoutMs: number; maxBodyBytes: number },
): CallService {
  const byName = new Map(bindings.map((binding) => [binding.service.typeName, binding]));
  const checks = new Map<DescMethodUnary, ReturnType<typeof requireValid>>();
  const checkOf = (method: DescMethodUnary) => {
    let check = checks.get(method);
    if (check === undefined) checks.set(method, (check = requireValid(judge, method.input)));
    return check;
  };
  return async <M extends DescMethodUnary>(
    method: M,
    wanted: MessageInitShape<M["input"]>,
    caller: InnerCaller,
  ) => {
    const handler = byName.get(method.parent.typeName)?.handlers[method.localName];
    if (handler === undefined) throw new Error(`no handler of ${method.name} is known`);
    const request = create(method.input, wanted);
    await checkOf(method)(request);
    const scope = scopeOf(method, caller, defaults, expectedBy(request));
    // The handler stands beside the descriptor that types it (authz/service.ts).
    const answer = await (handler(request as never, scope) as Promise<object>);
    return responseOf(method.output, answer).message as MessageShape<M["output"]>;
  };
}

/** The sequence that the object must be at, where the method has the field and the request says so. */
const expectedBy = (request: Message): bigint | undefined =>
  (request as { expectedSequence?: bigint }).expectedSequence;

function scopeOf(
  method: DescMethodUnary,
  called: InnerCaller,
  defaults: { timeoutMs: number; maxBodyBytes: number },
  expectedSequence: bigint | undefined,
): Scope {
  const { instanceId, issuer, requestId, source, as, organizationId } = called;
  const { isWithinOrganizations, newcomer, browser, presence } = called;
  const { isCounted } = called;
  const { policy, path } = methodRule(method, defaults);
  const isUser = "userId" in as;
  return {
    instanceId,
    issuer,
    caller: isUser
      ? { kind: "user", ...as, tokenKind: "login" }
      : { kind: "system", name: as.system },
    permissions: isUser
      ? noPermissions
      : isWithinOrganizations
        ? belowInstance
        : servicePermissions,
    context:
      organizationId === undefined
        ? { type: "instance" }
        : { type: "organization", organizationId },
    policy,
    requestId,
    source,
    presence,
    method: path.slice(1),
    acceptLanguage: undefined,
    body: undefined,
    signal: undefined,
    newcomer,
    browser,
    expectedSequence,
    isCounted,
    answer: {},
  };
}
