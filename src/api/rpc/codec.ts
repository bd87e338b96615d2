import { fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { type Response, writtenAs } from "../../authz/response-cache.ts";
import { invalidArgument } from "../../errors.ts";
import { detailTypes } from "../errors.ts";
import type { MethodRule } from "../method-rule.ts";
import { jsonForm, readMessage, writeMessage } from "../transcode/json.ts";
import { parseStrictJson } from "../transcode/strict-json.ts";

/** Messages to bytes and back, in one of the two encodings that RPC knows. */
export type Codec = {
  name: "proto" | "json";
  read(rule: MethodRule, bytes: Uint8Array): Message;
  write(rule: MethodRule, response: Response): Uint8Array | string;
};

export const protoCodec: Codec = {
  name: "proto",
  read({ method }, bytes) {
    try {
      return fromBinary(method.input, bytes);
    } catch (cause) {
      throw invalidArgument(
        "MALFORMED_MESSAGE",
        `the bytes are no ${method.input.typeName}: ${cause instanceof Error ? cause.message : ""}`,
        { cause },
      );
    }
  },
  write: ({ method }, response) =>
    writtenAs(response, "bytes", (it) => toBinary(method.output, it)),
};

export const jsonCodec: Codec = {
  name: "json",
  read({ method, ignoreUnknownFields }, bytes) {
    const json = bytes.length === 0 ? {} : parseStrictJson(bytes);
    return readMessage(method.input, json, { ignoreUnknownFields });
  },
  write: ({ method, jsonNames }, response) =>
    writtenAs(response, jsonForm(jsonNames), (it) =>
      JSON.stringify(writeMessage(method.output, it, { jsonNames, registry: detailTypes })),
    ),
};

/** The codec that a content type ends in: `+proto`, `+json`, or nothing for proto. */
export function codecOf(suffix: string): Codec | undefined {
  if (suffix === "" || suffix === "+proto") return protoCodec;
  return suffix === "+json" ? jsonCodec : undefined;
}
