import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { mayHoldSecrets, withoutSecrets } from "../authz/secret-fields.ts";
import type { LoggedEvent } from "../eventstore/eventstore.ts";

/** Where a call was made, as targets are told. */
export type CallFacts = {
  /** `/<package>.<Service>/<Method>` */
  fullMethod: string;
  instanceId: string;
  organizationId: string;
  /** Of the app that calls; empty where no app does. */
  projectId: string;
  userId: string;
};

/** What a target of a request is told (X6). The message is JSON as the service writes it. */
export const requestPayload = (facts: CallFacts, request: JsonValue): JsonObject => ({
  fullMethod: facts.fullMethod,
  instanceID: facts.instanceId,
  orgID: facts.organizationId,
  projectID: facts.projectId,
  userID: facts.userId,
  request,
});

/** What a target of a response is told. */
export const responsePayload = (
  facts: CallFacts,
  request: JsonValue,
  response: JsonValue,
): JsonObject => ({ ...requestPayload(facts, request), response });

/** A method by `/<package>.<Service>/<Method>`. */
export type MethodOf = (fullMethod: string) => DescMethod | undefined;

/** What was to be told of a call, without secrets; as it is where its messages have none. */
export function withoutSecretsOf(
  { type, value }: { type: string; value: string },
  body: string,
  methodOf: MethodOf,
): string {
  if (type !== "request" && type !== "response") return body;
  const method = methodOf(value);
  // What a method had that is gone is not known any more.
  if (method === undefined) return JSON.stringify(onlyFacts(body));
  const { input, output } = method;
  if (!mayHoldSecrets(input) && !mayHoldSecrets(output)) return body;
  const { request, response, ...facts } = parsed(body);
  return JSON.stringify({
    ...facts,
    ...(request === undefined ? {} : { request: withoutSecrets(input, request) }),
    ...(response === undefined ? {} : { response: withoutSecrets(output, response) }),
  });
}

// The service wrote it.
const parsed = (body: string): JsonObject => JSON.parse(body) as JsonObject;

function onlyFacts(body: string): JsonObject {
  const { request: _request, response: _response, ...facts } = parsed(body);
  return facts;
}

/** What a target of an event is told. Personal fields are empty once the person is deleted. */
export const eventPayload = (event: LoggedEvent): JsonObject => ({
  aggregateID: event.aggregateId,
  aggregateType: event.aggregateType,
  resourceOwner: event.owner.id,
  instanceID: event.instanceId,
  version: `v${event.revision}`,
  sequence: String(event.sequence),
  event_type: event.type,
  created_at: event.createdAt.toISOString(),
  userID: event.editorId,
  // Payloads are stored as JSON and read as such (C9).
  event_payload: event.payload as JsonValue,
});

/** What a target of a function is told: the bare name, and what the point that uses it knows (specification 11.2). */
export const functionPayload = (name: string, known: JsonObject): JsonObject => ({
  ...known,
  function: name,
});
