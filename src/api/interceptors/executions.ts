import type { DescMessage, JsonValue, Message } from "@bufbuild/protobuf";
import { clientOf, editorOf } from "../../authz/context.ts";
import type { HookedCall, RunAround } from "../../authz/executions.ts";
import type { Response } from "../../authz/response-cache.ts";
import type { ServiceBinding } from "../../authz/service.ts";
import { executionWriter } from "../../authz/roles.ts";
import { withoutSecrets, withSecretsOf } from "../../authz/secret-fields.ts";
import { callerGone } from "../../errors.ts";
import { depthOf } from "../../telemetry/request-id.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import type { MethodRule } from "../method-rule.ts";
import { scopeOf } from "../scope.ts";
import { fixedParts } from "../transcode/fixed-parts.ts";
import { readMessage, writeMessage } from "../transcode/json.ts";
import { requireValid } from "../validation.ts";
import { authorize } from "./authorize.ts";
import { holds } from "./holds.ts";
import type { Ports } from "./index.ts";
import { stepUp } from "./step-up.ts";

/**
 * Calls the targets of executions before and after the handler of a unary method, in whatever protocol (X5).
 *
 * What a target makes of a request is validated and authorized as what the caller sent; `ctx` and what stands in the path
 * stay as they are. Secrets are shown to targets that may have them, and kept where a target did not see them
 * (J14). Who may write executions is never subject to them where the schema says so (X10), and
 * neither is what is done to the system, which no instance has a say in.
 */
export const executions =
  (ports: Ports, binding: ServiceBinding): InterceptorFactory =>
  (rule) => {
    const { executions: port, validator } = ports;
    const { method, path } = rule;
    if (port === undefined || method.methodKind !== "unary") return undefined;
    const aroundOf = port.of(path);
    const requireRequest = requireValid(validator, method.input);
    const requireResponse = requireValid(validator, method.output);
    const requireUnmoved = fixedParts(method);
    const judges = [authorize, stepUp, holds]
      .map((make) => make(ports, binding)(rule))
      .filter((step) => typeof step === "object");
    const read = { ignoreUnknownFields: false };
    const asJson = (desc: DescMessage, message: Message) =>
      writeMessage(desc, message, { jsonNames: rule.jsonNames });

    const hooked = (call: Call): HookedCall => ({
      facts: factsOf(call, rule),
      depth: depthOf(call.requestId),
      signal: call.caller === undefined ? undefined : scopeOf(call).signal,
      request: (secrets) => seen(method.input, asJson(method.input, requestOf(call)), secrets),
      async takeRequest(json, secrets) {
        const before = asJson(method.input, requestOf(call));
        const message = readMessage(method.input, whole(method.input, before, json, secrets), read);
        requireUnmoved(requestOf(call), message);
        await requireRequest(message);
        call.request = message;
        for (const { check } of judges) await check(call);
      },
    });

    const runAround = async <R>(
      around: RunAround,
      call: Call,
      next: () => Promise<R>,
    ): Promise<R> => {
      const hook = hooked(call);
      let result: R | undefined;
      await around(hook, async () => {
        // Who has been answered already must not find that something was done all the same.
        if (hook.signal?.aborted) throw callerGone();
        result = await next();
        return {
          // Of a unary method the result is a response (endpoints.ts).
          response: (secrets) =>
            seen(method.output, asJson(method.output, (result as Response).message), secrets),
          async takeResponse(json, secrets) {
            const before = asJson(method.output, (result as Response).message);
            const message = readMessage(
              method.output,
              whole(method.output, before, json, secrets),
              read,
            );
            await requireResponse(message);
            result = { message, forms: undefined } as R;
          },
        };
      });
      return result as R;
    };

    return <R>(call: Call, next: () => Promise<R>): Promise<R> => {
      if (isExempt(rule, call)) return next();
      const around = aroundOf(call.instanceId);
      if (around === undefined) return next();
      if (!(around instanceof Promise)) return runAround(around, call, next);
      return around.then((found) => (found === undefined ? next() : runAround(found, call, next)));
    };
  };

/** What a target sees of a message. */
const seen = (desc: DescMessage, json: JsonValue, secrets: boolean): JsonValue =>
  secrets ? json : withoutSecrets(desc, json);

/** What a target made of what it saw, with what it did not see. */
const whole = (desc: DescMessage, before: JsonValue, answer: JsonValue, secrets: boolean) =>
  secrets ? answer : withSecretsOf(desc, before, answer);

function isExempt(rule: MethodRule, { permissions, context, caller }: Call): boolean {
  if (context.type === "system" || rule.permissionContext === "system") return true;
  if (!rule.executionsExempt) return false;
  return caller?.kind === "system" || permissions.holds(executionWriter, { type: "instance" });
}

function requestOf({ request }: Call): Message {
  if (request === undefined) throw new Error("a call is decoded before executions run");
  return request;
}

function factsOf({ instanceId, context, caller }: Call, { path }: MethodRule) {
  const own = caller?.kind === "user" ? caller.organizationId : "";
  return {
    fullMethod: path,
    instanceId,
    organizationId: context.type === "organization" ? context.organizationId : own,
    clientId: clientOf(caller),
    userId: caller === undefined ? "" : editorOf(caller),
  };
}
