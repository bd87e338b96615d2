import { fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { writtenAs } from "../../authz/response-cache.ts";
import { invalidArgument } from "../../errors.ts";
import { detailTypes } from "../errors.ts";
import type { MethodRule } from "../method-rule.ts";
import { jsonForm, readMessage, writeMessage } from "../transcode/json.ts";
import { parseStrictJson } from "../transcode/strict-json.ts";

/** Messages to bytes and back, in one of the two encodings that RPC knows. */
export type Codec = {
  name: "proto" | "json";
  read(rule: MethodRule, bytes: Uint8Array): Message;
  write(rule: MethodRule, message: Message): Uint8Array | string;
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
  write: ({ method }, message) => writtenAs(message, "bytes", (it) => toBinary(method.output, it)),
};

export const jsonCodec: Codec = {
  name: "json",
  read({ method, ignoreUnknownFields }, bytes) {
    const json = bytes.length === 0 ? {} : parseStrictJson(bytes);
    return readMessage(method.input, json, { ignoreUnknownFields });
  },
  write: ({ method, jsonNames }, message) =>
    writtenAs(message, jsonForm(jsonNames), (it) =>
      JSON.stringify(writeMessage(method.output, it, { jsonNames, registry: detailTypes })),
    ),
};

/** The codec that a content type ends in: `+proto`, `+json`, or nothing for proto. */
export function codecOf(suffix: string): Codec | undefined {
  if (suffix === "" || suffix === "+proto") return protoCodec;
  return suffix === "+json" ? jsonCodec : undefined;
}
