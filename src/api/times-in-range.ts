import { type DescMessage, isMessage, type Message } from "@bufbuild/protobuf";
import { type Path, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import {
  type Duration,
  DurationSchema,
  type Timestamp,
  TimestampSchema,
} from "@bufbuild/protobuf/wkt";

const [firstSecond, lastSecond] = [-62_135_596_800n, 253_402_300_799n];
const longestSeconds = 315_576_000_000n;
const mostNanos = 999_999_999;

/** Whether a time lies in the years 1 to 9999, as `google.protobuf.Timestamp` demands. JSON cannot say another; bytes can. */
export const isTimestamp = ({ seconds, nanos }: Timestamp): boolean =>
  seconds >= firstSecond && seconds <= lastSecond && nanos >= 0 && nanos <= mostNanos;

/** Whether a span is at most 10,000 years long and of one sign, as `google.protobuf.Duration` demands. */
export const isDuration = ({ seconds, nanos }: Duration): boolean =>
  seconds >= -longestSeconds &&
  seconds <= longestSeconds &&
  Math.abs(nanos) <= mostNanos &&
  (seconds === 0n || nanos === 0 || seconds > 0n === nanos > 0);

export type WrongTime = { path: Path; description: string; rule: string };

/** The times and spans of a message that none can be: the validator fails on them. */
export function wrongTimes(type: DescMessage, message: Message): WrongTime[] {
  return within(reflect(type, message), []);
}

function within(message: ReflectMessage, path: Path): WrongTime[] {
  return message.fields.flatMap((field) => {
    if (!message.isSet(field)) return [];
    if (field.fieldKind === "message") return judged(message.get(field), [...path, field]);
    if (field.fieldKind !== "list" || field.listKind !== "message") return [];
    return [...message.get(field)].flatMap((item, index) =>
      judged(item as ReflectMessage, [...path, field, { kind: "list_sub", index }]),
    );
  });
}

function judged(found: ReflectMessage, path: Path): WrongTime[] {
  const { message } = found;
  if (isMessage(message, TimestampSchema)) {
    const description = "must be a time of the years 1 to 9999";
    return isTimestamp(message) ? [] : [{ path, description, rule: "timestamp.range" }];
  }
  if (isMessage(message, DurationSchema)) {
    const description = "must be at most 10,000 years long, its seconds and nanos of one sign";
    return isDuration(message) ? [] : [{ path, description, rule: "duration.range" }];
  }
  return within(found, path);
}
