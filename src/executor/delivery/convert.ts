import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type DeliverySchema,
  DeliveryState,
  DeliveryTrigger,
} from "#gen/idsvc/resources/action/v3alpha/delivery_pb.ts";
import { toDuration } from "../../resources/object/duration.ts";
import type { DeliveryRow } from "./table.ts";

const states: Record<string, DeliveryState> = {
  waiting: DeliveryState.WAITING,
  delivered: DeliveryState.DELIVERED,
  failed: DeliveryState.FAILED,
  dead: DeliveryState.DEAD,
};
const triggers: Record<string, DeliveryTrigger> = {
  request: DeliveryTrigger.REQUEST,
  response: DeliveryTrigger.RESPONSE,
  event: DeliveryTrigger.EVENT,
  function: DeliveryTrigger.FUNCTION,
  test: DeliveryTrigger.TEST,
};

const wordOf = (words: Record<string, number>, value: number): string =>
  Object.keys(words).find((word) => words[word] === value) ?? "";

export const fromState = (state: DeliveryState): string => wordOf(states, state);
export const fromTrigger = (trigger: DeliveryTrigger): string => wordOf(triggers, trigger);

export const toDelivery = (row: DeliveryRow): MessageInitShape<typeof DeliverySchema> => ({
  id: row.id,
  executionId: row.executionId,
  targetId: row.targetId,
  trigger: triggers[row.cause] ?? DeliveryTrigger.UNSPECIFIED,
  triggerName: row.causeValue,
  ...(row.eventSequence === 0n ? {} : { eventSequence: row.eventSequence }),
  state: states[row.state] ?? DeliveryState.UNSPECIFIED,
  attempts: row.attempts,
  ...(row.statusClass === 0 ? {} : { statusClass: row.statusClass }),
  duration: toDuration(row.durationMs),
  ...(row.failure === null ? {} : { failure: row.failure }),
  creationDate: timestampFromDate(row.creationDate),
  changeDate: timestampFromDate(row.changeDate),
});
