import { type DescField, type DescMessage, getOption, type Message } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { field as fieldOption } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

// What the validator looks at in some milliseconds.
const mostLookedAt = 1_000;

/**
 * Cuts lists that are far too long for their rule to what is just too long. The validator looks at each item before it counts
 * them, and says the same of the rest; a message with such a list is refused in any case (J17).
 */
export function cutOverlongLists(type: DescMessage, message: Message): void {
  cut(reflect(type, message));
}

function cut(message: ReflectMessage): void {
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    if (field.fieldKind === "message") cut(message.get(field));
    if (field.fieldKind !== "list") continue;
    const list = message.get(field);
    const most = mostItems(field);
    if (list.size > mostLookedAt && most < list.size) {
      const items: unknown = Reflect.get(message.message, field.localName);
      if (Array.isArray(items)) items.length = most + 1;
    }
    if (field.listKind !== "message") continue;
    for (const item of list) cut(item as ReflectMessage);
  }
}

function mostItems(field: DescField): number {
  const { type } = getOption(field, fieldOption);
  const most = type.case === "repeated" ? Number(type.value.maxItems) : 0;
  return most === 0 ? Infinity : most;
}
