import { type DescMethodUnary, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { rest } from "#schema-options";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.ts";
import { consoleHeader } from "./calls.ts";

/**
 * Sends a file as the body of a method of the REST API, as it is read from the disk.
 *
 * @throws ConnectError with what the service says of it
 */
export async function sendFile(
  method: DescMethodUnary,
  file: Blob,
  query: Readonly<Record<string, string>>,
): Promise<JsonObject> {
  const [verb = "POST", path = ""] = rest[`${method.parent.typeName}.${method.name}`] ?? [];
  const headers = { [consoleHeader]: "1", "content-type": "application/json" };
  const address = `${path}?${new URLSearchParams(query)}`;
  const answer = await fetch(address, { method: verb, headers, body: file }).catch(() => {
    throw new ConnectError("", Code.Unavailable);
  });
  const body = (await answer.json()) as JsonObject;
  if (answer.ok) return body;
  throw restError(body, answer.headers);
}

/** A refusal over REST as one of Connect: what it is, its words, and what is told with it. */
function restError(body: JsonObject, headers: Headers): ConnectError {
  const { code, message, details } = body;
  const error = new ConnectError(
    typeof message === "string" ? message : "",
    Object.values(Code).find((each): each is Code => each === code) ?? Code.Unknown,
    headers,
  );
  for (const detail of Array.isArray(details) ? details : []) {
    const value = { ...Object(detail) } as JsonObject;
    if (value["@type"] !== `type.googleapis.com/${ErrorInfoSchema.typeName}`) continue;
    delete value["@type"];
    error.details.push({ desc: ErrorInfoSchema, value: fromJson(ErrorInfoSchema, value) });
  }
  return error;
}
