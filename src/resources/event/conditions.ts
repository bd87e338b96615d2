import { isOneOf } from "../../projection/rows.ts";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { OwnerType } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import type {
  CreationDateFilter,
  EventSearchFilter,
} from "#gen/idsvc/resources/event/v3alpha/query_pb.ts";
import { and, type Column, eq, gte, lt, lte, type SQL } from "../../storage/drizzle.ts";
import { position } from "../history/log-reader.ts";

/** The columns of the log that can be asked for. */
export type LogColumns = Record<
  | "sequence"
  | "type"
  | "aggregateType"
  | "aggregateId"
  | "ownerType"
  | "ownerId"
  | "editorId"
  | "requestId"
  | "createdAt",
  Column
>;

/** How far from one event of a request its others are looked for. An index of requests would cost each append (decision 0370). */
const nearby = 1_000n;

/** What a filter of the API keeps of the log. */
export function condition(
  t: LogColumns,
  eventTypes: readonly string[],
  { filter }: EventSearchFilter,
): SQL | undefined {
  switch (filter.case) {
    case "types": {
      const { types } = filter.value;
      return isOneOf(
        t.type,
        eventTypes.filter((type) => types.some((asked) => isOf(asked, type))),
      );
    }
    case "aggregate": {
      const { type, id } = filter.value;
      return and(eq(t.aggregateType, type), id === undefined ? undefined : eq(t.aggregateId, id));
    }
    case "editor":
      return eq(t.editorId, filter.value.userId);
    case "owner": {
      const { type, id } = filter.value;
      const isOwned = eq(t.ownerType, ownerTypes[type] ?? "");
      return and(isOwned, id === undefined ? undefined : eq(t.ownerId, id));
    }
    case "sequence": {
      const { from, to } = filter.value;
      return and(
        from === undefined ? undefined : gte(t.sequence, position(from)),
        to === undefined ? undefined : lte(t.sequence, position(to)),
      );
    }
    case "request": {
      const { id, near } = filter.value;
      return and(
        eq(t.requestId, id),
        gte(t.sequence, position(near) - nearby),
        lte(t.sequence, position(near + nearby)),
      );
    }
    case "creationDate":
      return withinDates(t.createdAt, filter.value);
    default:
      return undefined;
  }
}

/** Keeps what is dated in a span of time. */
export const withinDates = (
  column: Column,
  { from, to }: Pick<CreationDateFilter, "from" | "to">,
): SQL | undefined =>
  and(
    from === undefined ? undefined : gte(column, atOrAfter(from)),
    to === undefined ? undefined : lt(column, atOrAfter(to)),
  );

/** Whether an event has the name, or is of the group of that name; a group is whole dotted words (C8). */
const isOf = (asked: string, type: string): boolean =>
  type === asked || type.startsWith(`${asked}.`);

const ownerTypes: Partial<Record<OwnerType, string>> = {
  [OwnerType.SYSTEM]: "system",
  [OwnerType.INSTANCE]: "instance",
  [OwnerType.ORG]: "org",
};

// Events are dated in whole milliseconds: a part of one lies before the next.
const atOrAfter = ({ seconds, nanos }: Timestamp): Date =>
  new Date(Number(seconds) * 1000 + Math.ceil(nanos / 1e6));
