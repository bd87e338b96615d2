import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { DeliveryService } from "#gen/idsvc/resources/action/v3alpha/delivery_service_pb.ts";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { SMTPProviderService } from "#gen/idsvc/resources/smtp/v3alpha/smtp_provider_service_pb.ts";
import { contextOf, textAt } from "./declare.ts";
import { ownInstance } from "./own-instance.ts";
import { objectsAt } from "./schema.ts";

/** Something that is looked at in the instance: where it is mended, and how much of what was answered needs somebody. */
export type Check = {
  word: string;
  to: string;
  /** What of the list is looked at alone. */
  state?: string;
  method: DescMethodUnary;
  /** @param head the last position of the log */
  request: (head: bigint) => JsonObject;
  /** It is asked by how long the log is. */
  isByHead?: true;
  found: (answer: JsonObject) => number;
};

/** So many of the newest are looked at, so that it takes as long however many there are. */
const newest = { limit: 50, skip_total: true };
const newestEvents = 10_000n;
const givenUp = "DELIVERY_STATE_DEAD";

/** Tells how long the log is. */
export const headOfLog = {
  method: EventService.method.searchEvents,
  request: { query: { limit: 1, skip_total: true } },
  head: (answer: JsonObject) => BigInt(textAt(answer, "details.processed_sequence") || "0"),
};

export const checks: readonly Check[] = [
  {
    word: "healthMail",
    to: "/mail",
    method: SMTPProviderService.method.searchSMTPProviders,
    request: () => ({ query: newest }),
    found: (answer) =>
      objectsAt(answer, "result").some(({ state }) => state === "EFFECTIVE_STATE_ACTIVE") ? 0 : 1,
  },
  {
    word: "healthDeliveries",
    to: "/deliveries",
    method: DeliveryService.method.searchDeliveries,
    request: () => ({ query: newest }),
    found: (answer) =>
      objectsAt(answer, "result").filter(({ state }) => state === "DELIVERY_STATE_FAILED").length,
  },
  {
    word: "healthGivenUp",
    to: "/deliveries",
    state: givenUp,
    method: DeliveryService.method.searchDeliveries,
    // They are older than the newest: a day passes before one is given up. An instance keeps 100,000 that have ended.
    request: () => ({ query: newest, filters: [{ state: { state: givenUp } }] }),
    found: (answer) => objectsAt(answer, "result").length,
  },
  {
    word: "healthProviders",
    to: "/failed-log-ins",
    method: EventService.method.searchEvents,
    isByHead: true,
    request: (head) => ({
      query: newest,
      filters: [
        { types: { types: ["idpintent.failed"] } },
        { sequence: { from: String(head > newestEvents ? head - newestEvents : 1n) } },
      ],
    }),
    found: (answer) => objectsAt(answer, "result").length,
  },
  {
    word: "healthLimits",
    to: "/limits",
    method: ownInstance.get,
    request: () => ({}),
    found: (answer) =>
      ownInstance.amounts.filter(({ used, most }) => {
        const [now, limit] = [used, most].map((path) => Number(textAt(answer, path)));
        return limit !== undefined && limit > 0 && (now ?? 0) >= limit * 0.9;
      }).length,
  },
];

/** The log-ins of the last days, in the organization or the instance. */
export const logIns = {
  method: SessionService.method.getLogInCounts,
  request: (org: string | undefined): JsonObject => contextOf(org),
  days: (answer: JsonObject) =>
    objectsAt(answer, "result").map((each) => ({
      day: textAt(each, "day"),
      count: Number(textAt(each, "count")),
    })),
};
