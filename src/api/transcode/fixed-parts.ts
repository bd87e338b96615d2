import type { DescMethod, JsonValue, Message } from "@bufbuild/protobuf";
import { invalidField } from "../../errors.ts";
import { restBindings } from "./body.ts";
import { isObject, writeMessage } from "./json.ts";

/**
 * Refuses another request of a method that says another context or another path than the first (X5), in
 * whatever protocol it came: what the path of a REST call names is fixed in all of them.
 *
 * @throws INVALID_ARGUMENT EXECUTION_REQUEST_MOVED
 */
export function fixedParts(method: DescMethod): (before: Message, after: Message) => void {
  const { input } = method;
  const inPaths = restBindings(method).flatMap(({ variables }) => [...variables.keys()]);
  const fixed = [...new Set(["ctx", ...inPaths])];
  const asJson = (message: Message) => writeMessage(input, message, { jsonNames: "proto" });
  return (before, after) => {
    const [one, other] = [asJson(before), asJson(after)];
    const moved = fixed.find((path) => textAt(one, path) !== textAt(other, path));
    if (moved === undefined) return;
    throw invalidField(moved, "EXECUTION_REQUEST_MOVED", "must stay as the caller sent it");
  };
}

// Both were written by one writer, which gives equal values one text.
function textAt(json: JsonValue, dotted: string): string | undefined {
  let value: JsonValue | undefined = json;
  for (const name of dotted.split(".")) value = isObject(value) ? value[name] : undefined;
  return value === undefined ? undefined : JSON.stringify(value);
}
