import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { DeliveryService } from "#gen/idsvc/resources/action/v3alpha/delivery_service_pb.ts";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import {
  type Action,
  at,
  begins,
  contextOf,
  type Field,
  type Kind,
  type Listed,
  type Named,
  present,
  type Shown,
  textAt,
  type Ways,
} from "./declare.ts";
import { eventColumns, historyOf, id, ownFacts } from "./shared.ts";

const action = ActionService.method;
const delivery = DeliveryService.method;

const call: Ways = {
  word: "targetKind",
  ways: [
    { word: "field_rest_webhook", fields: [{ path: "target.rest_webhook.url", isRequired: true }] },
    {
      word: "field_rest_request_response",
      fields: [{ path: "target.rest_request_response.url", isRequired: true }],
    },
  ],
};
const failing: Ways = {
  word: "onFailure",
  ways: [
    { word: "goOn" },
    { word: "field_interrupt_on_error", given: { "target.interrupt_on_error": { is: true } } },
    { word: "field_is_async", given: { "target.is_async": { is: true } } },
  ],
};
const signing = [{ path: "signing_key" }] as const;

/** The kind of the HTTP status that a target answered, such as `2xx`. */
const statusOf = (before: string) => (object: JsonObject) => {
  const status = at(object, `${before}status_class`);
  return typeof status === "number" ? `${status}xx` : "";
};

/** What a delivery was for, and what came of it. */
const outcomeColumns: readonly Shown[] = [
  { path: "trigger" },
  { path: "state" },
  { path: "attempts" },
  { path: "status_class", text: statusOf("") },
  { path: "failure" },
  { path: "creation_date" },
];
/** What a delivery was called for; a test was for nothing else. */
const calledFor: Shown = { path: "trigger_name", as: "code", empty: "DELIVERY_TRIGGER_TEST" };
const redeliver: Action = {
  word: "redeliver",
  method: delivery.redeliverDelivery,
  given: { id: { of: "id" } },
  // What was sent is kept of these alone.
  when: (each) =>
    textAt(each, "trigger") === "DELIVERY_TRIGGER_EVENT" ||
    textAt(each, "state") === "DELIVERY_STATE_DEAD",
};

export const targets: Listed = {
  isOfInstance: true,
  search: {
    method: action.searchTargets,
    request: ({ q }) => ({ filters: present([q !== "" && { name: begins(q) }]) }),
  },
  watches: ["target"],
  hint: "hintTargets",
  columns: [
    { path: "target.name" },
    { path: "target.timeout" },
    { path: "details.change_date", word: "changed" },
  ],
  opens: { to: "/targets/$id", id: "details.id" },
  add: [
    {
      word: "addTarget",
      method: action.createTarget,
      leadsTo: "/targets/$id",
      fields: [
        { path: "target.name" },
        call,
        { path: "target.timeout", isRequired: true, initial: { is: "10s" } },
        failing,
        { path: "target.payload_secrets" },
      ],
      once: signing,
    },
  ],
};

export const target: Kind = {
  back: { to: "/targets", word: "targets" },
  get: action.getTarget,
  object: "target",
  title: (object) => textAt(object, "target.name"),
  facts: [
    { path: "target.name" },
    { path: "target.rest_webhook.url", word: "field_rest_webhook" },
    { path: "target.rest_request_response.url", word: "field_rest_request_response" },
    { path: "target.timeout" },
    { path: "target.is_async" },
    { path: "target.interrupt_on_error" },
    { path: "target.payload_secrets" },
    ...ownFacts,
  ],
  actions: [
    {
      word: "edit",
      method: action.patchTarget,
      given: id,
      isChange: true,
      fields: [
        { path: "target.name" },
        { path: "target.rest_webhook.url", word: "field_rest_webhook" },
        { path: "target.rest_request_response.url", word: "field_rest_request_response" },
        { path: "target.timeout" },
        { path: "target.payload_secrets" },
      ],
    },
    {
      word: "anotherSigningKey",
      about: "about_anotherSigningKey",
      method: action.patchTarget,
      isDangerous: true,
      given: { ...id, "target.rotate_signing_key": { is: true } },
      once: signing,
    },
    {
      word: "testTarget",
      method: delivery.testTarget,
      given: id,
      outcome: [
        { path: "delivery.state" },
        { path: "delivery.status_class", text: statusOf("delivery.") },
        { path: "delivery.failure" },
      ],
    },
    {
      word: "delete",
      method: action.deleteTarget,
      given: id,
      isDangerous: true,
      leadsTo: "/targets",
    },
  ],
  rows: [
    {
      word: "deliveries",
      tab: "deliveries",
      search: {
        method: delivery.searchDeliveries,
        request: (object) => ({ filters: [{ target: { id: textAt(object, "details.id") } }] }),
        isDescending: true,
      },
      columns: [calledFor, ...outcomeColumns],
      actions: [redeliver],
      hint: "hintDeliveries",
    },
  ],
  history: historyOf("target"),
};

const one = (path: string, method: DescMethodUnary, rows: string): Field => ({
  path,
  isRequired: true,
  choices: { method, request: () => ({}), rows },
});
const conditions = (path: string): Ways => ({
  word: "condition",
  ways: [
    {
      word: "onRequest",
      fields: [one(`${path}.request.method`, action.listAvailableExecutionMethods, "methods")],
    },
    {
      word: "onRequestOfService",
      fields: [one(`${path}.request.service`, action.listAvailableExecutionServices, "services")],
    },
    {
      word: "onResponse",
      fields: [one(`${path}.response.method`, action.listAvailableExecutionMethods, "methods")],
    },
    {
      word: "onResponseOfService",
      fields: [one(`${path}.response.service`, action.listAvailableExecutionServices, "services")],
    },
    {
      word: "onFunction",
      fields: [one(`${path}.function`, action.listAvailableExecutionFunctions, "functions")],
    },
    {
      word: "onEvent",
      fields: [{ path: `${path}.event.event`, isRequired: true, hint: "hintEvent" }],
    },
    {
      word: "onEventGroup",
      fields: [{ path: `${path}.event.group`, isRequired: true, hint: "hintEventGroup" }],
    },
    { word: "onEveryEvent", given: { [`${path}.event.all`]: { is: true } } },
  ],
});
const calledTargets: Field = {
  path: "execution.targets",
  choices: {
    method: action.searchTargets,
    request: () => ({ query: { limit: 1000 } }),
    rows: "result",
    value: "details.id",
    label: "target.name",
  },
};

const namedTarget: Named = {
  method: action.searchTargets,
  name: (object) => textAt(object, "target.name"),
  to: "/targets/$id",
};

export const executions: Listed = {
  isOfInstance: true,
  search: { method: action.searchExecutions, request: () => ({}) },
  hasNoFilter: true,
  watches: ["execution"],
  hint: "hintExecutions",
  columns: [
    { path: "details.id", word: "condition", as: "code" },
    { path: "execution.targets", named: namedTarget },
    { path: "execution.includes", as: "code" },
    { path: "details.change_date", word: "changed" },
  ],
  add: [
    {
      word: "addExecution",
      method: action.putExecution,
      fields: [conditions("execution.condition"), calledTargets, { path: "execution.includes" }],
    },
    {
      word: "matchExecution",
      method: delivery.matchExecution,
      fields: [conditions("condition")],
      outcome: [
        { path: "execution_id", word: "condition", as: "code" },
        {
          path: "targets",
          word: "targets",
          columns: [
            { path: "target_id", word: "field_name", named: namedTarget },
            { path: "via_execution_id", word: "condition", as: "code" },
            { path: "is_async" },
            { path: "interrupt_on_error" },
          ],
        },
      ],
    },
  ],
  actions: [
    {
      word: "edit",
      method: action.putExecution,
      send: "save",
      given: { "execution.condition": { of: "execution.condition" } },
      fields: [
        { ...calledTargets, initial: { of: "execution.targets" } },
        { path: "execution.includes", initial: { of: "execution.includes" } },
      ],
    },
    { word: "remove", method: action.deleteExecution, given: id, isDangerous: true },
  ],
};

export const deliveries: Listed = {
  isOfInstance: true,
  search: {
    method: delivery.searchDeliveries,
    request: ({ state }) => ({ filters: present([state !== "" && { state: { state } }]) }),
    isDescending: true,
  },
  hasNoFilter: true,
  states: ["WAITING", "DELIVERED", "FAILED", "DEAD"].map((state) => `DELIVERY_STATE_${state}`),
  isPolled: true,
  hint: "hintDeliveries",
  columns: [
    calledFor,
    { path: "target_id", word: "target", named: namedTarget },
    ...outcomeColumns,
  ],
  actions: [redeliver],
};

export const events: Listed = {
  search: {
    method: EventService.method.searchEvents,
    request: ({ org, request = "", near = "" }) => ({
      ...contextOf(org),
      filters: present([request !== "" && near !== "" && { request: { id: request, near } }]),
    }),
    isDescending: true,
  },
  hasNoFilter: true,
  isByRequest: true,
  watches: [],
  columns: eventColumns,
};

export const refusals: Listed = {
  search: {
    method: EventService.method.searchRefusals,
    request: () => ({}),
    isDescending: true,
  },
  hasNoFilter: true,
  isPolled: true,
  columns: [
    { path: "kind" },
    { path: "reason", word: "reason", as: "reason" },
    { path: "user_id", word: "who", as: "person" },
    { path: "client_id", as: "code" },
    { path: "operation", as: "code" },
    { path: "count" },
    { path: "last_date" },
  ],
};
