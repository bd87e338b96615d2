import type { Message } from "@bufbuild/protobuf";
import { contextNotFound, instanceOfHostOnly, contextInvalid } from "../../authz/tenancy.ts";
import { type RequestContext, RequestContextSchema } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import type { RequestedContext } from "../../authz/context.ts";
import { knowsOrganization } from "../../authz/known.ts";
import { type DomainError } from "../../errors.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import type { Ports } from "./index.ts";

const header = "x-idsvc-orgid";
const longestId = 200;

/**
 * Resolves the context a call acts in: `ctx` of the request, else the header `x-idsvc-orgid`, else the instance
 * (B2).
 *
 * @throws NOT_FOUND ORGANIZATION_NOT_FOUND, INSTANCE_NOT_FOUND
 * @throws INVALID_ARGUMENT CONTEXT_INVALID
 */
export const organization =
  (ports: Ports): InterceptorFactory =>
  ({ method }) => {
    const field = method.input.field["ctx"];
    const hasContext =
      field?.fieldKind === "message" && field.message.typeName === RequestContextSchema.typeName;
    const enter = async (call: Call, found: Promise<RequestedContext>) => {
      call.context = await found;
    };
    return {
      check(call) {
        const asked = hasContext ? contextOf(call.request) : undefined;
        if (asked !== undefined) return enter(call, fromRequest(ports, call, asked.context));
        if (call.headers.get(header) === undefined) return undefined;
        return enter(call, fromHeader(ports, call));
      },
    };
  };

// Only called for messages whose descriptor has the field `ctx` of this type.
const contextOf = (request: Message | undefined): RequestContext | undefined =>
  (request as { ctx?: RequestContext } | undefined)?.ctx;

async function fromRequest(
  { instances, organizations }: Ports,
  call: Call,
  asked: RequestContext["context"],
): Promise<RequestedContext> {
  switch (asked.case) {
    case "system":
      if (asked.value && call.rule.noSystemContext) throw noSystemContext();
      if (asked.value) return { type: "system" };
      throw contextInvalid("must be true when it is sent", "ctx.system");
    case "instanceId":
      if (asked.value === "") throw emptyMember("ctx.instance_id");
      return enterInstance(call, await instances.byId(asked.value));
    case "instanceDomain": {
      if (asked.value === "") throw emptyMember("ctx.instance_domain");
      return enterInstance(call, await instances.byDomain(asked.value.toLowerCase()));
    }
    case "orgId": {
      if (asked.value === "") throw emptyMember("ctx.org_id");
      return enterOrganization(call, await organizations.byId(call.instanceId, asked.value));
    }
    case "orgDomain": {
      if (asked.value === "") throw emptyMember("ctx.org_domain");
      const domain = asked.value.toLowerCase();
      return enterOrganization(call, await organizations.byDomain(call.instanceId, domain));
    }
    default:
      throw contextInvalid("exactly one of its members must be set");
  }
}

// Everybody else is at home on the instance of the host; system callers may name any (B2).
function enterInstance(call: Call, found: { id: string } | undefined): RequestedContext {
  if (found === undefined) throw instanceOfHostOnly();
  if (found.id !== call.instanceId && call.caller?.kind !== "system") throw instanceOfHostOnly();
  call.instanceId = found.id;
  return { type: "instance", isNamed: true };
}

async function fromHeader({ organizations }: Ports, call: Call): Promise<RequestedContext> {
  const id = call.headers.get(header) ?? "";
  if (id === "" || id.length > longestId || call.headers.count(header) > 1) {
    throw contextInvalid("the header must hold one id of 1 to 200 characters", header);
  }
  return enterOrganization(call, await organizations.byId(call.instanceId, id));
}

/** Organizations in which the caller has nothing do not exist for them (J13). */
function enterOrganization(call: Call, found: { id: string } | undefined): RequestedContext {
  if (found === undefined || !knowsOrganization(call, found.id)) throw contextNotFound();
  return { type: "organization", organizationId: found.id };
}

const emptyMember = (field: string): DomainError => contextInvalid("must not be empty", field);
const noSystemContext = (): DomainError =>
  contextInvalid(
    "the system has none of these: name an instance or an organization, or leave ctx out",
    "ctx.system",
  );
