import assert from "node:assert/strict";
import {
  create,
  createRegistry,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  toJson,
} from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "#gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "#gen/google/rpc/status_pb.ts";
import type { RawAnswer } from "./wire.ts";

const registry = createRegistry(file_google_rpc_error_details);

export type Violation = { field: string; description: string; reason: string };

/** A refusal as the caller sees it, in one form for all protocols. `details` are the JSON of `google.protobuf.Any`. */
export type Refusal = {
  ok: false;
  code: number;
  message: string;
  reason: string;
  metadata: Record<string, string>;
  violations: Violation[];
  details: JsonValue[];
  httpStatus: number | undefined;
  headers: Record<string, string>;
};
/** Fails unless the call was refused so; for an invalid argument the field must be named. */
export function assertRefused(
  outcome: { ok: true } | Refusal | undefined,
  expected: { code: number; reason: string; field?: string },
  what = "",
): asserts outcome is Refusal {
  assert.ok(outcome !== undefined && !outcome.ok, `${what} should be refused`);
  const { code, reason, message, violations } = outcome;
  const wanted = { code: expected.code, reason: expected.reason };
  assert.deepEqual({ code, reason }, wanted, `${what}: ${message}`);
  if (expected.field === undefined) return;
  const fields = violations.map(({ field }) => field);
  assert.ok(
    fields.includes(expected.field),
    `${what} names ${expected.field}, not: ${fields.join(", ")}`,
  );
}

/** The refusal of a gRPC answer that has no message, from its header or trailer fields. */
export function grpcRefusal(fields: Record<string, string>): Refusal {
  const status = fromBinary(
    StatusSchema,
    Buffer.from(fields["grpc-status-details-bin"] ?? "", "base64"),
  );
  assert.equal(String(status.code), fields["grpc-status"], "code of status and details");
  assert.equal(status.message, decodeURIComponent(fields["grpc-message"] ?? ""));
  return refusal(status, undefined, fields);
}

/** The refusal of a REST answer. */
export function restRefusal({ status, headers, json }: RawAnswer): Refusal {
  assert.match(headers["content-type"] ?? "", /^application\/json/);
  const read = fromJson(StatusSchema, json, { registry });
  const body = json as JsonObject;
  assert.deepEqual(Object.keys(body).sort(), ["code", "details", "message"], "the error body");
  return refusal(read, status, headers);
}

/** The refusal of a Connect answer. */
export function connectRefusal({ status, headers, json }: RawAnswer): Refusal {
  const { code, message, details } = json as {
    code: string;
    message: string;
    details: { type: string; value: string }[];
  };
  const name = code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const number = Reflect.get(Code, name);
  assert.equal(typeof number, "number", `Connect has no code ${code}`);
  const packed = details.map(({ type, value }) =>
    create(AnySchema, {
      typeUrl: `type.googleapis.com/${type}`,
      value: Buffer.from(value, "base64"),
    }),
  );
  return refusal({ code: Number(number), message, details: packed }, status, headers);
}

/** What a caller can read out of a status, whatever protocol brought it. */
export function refusal(
  { code, message, details }: { code: number; message: string; details: Any[] },
  httpStatus: number | undefined,
  headers: Record<string, string>,
): Refusal {
  const told = details.map((any) => toJson(AnySchema, any, { registry }));
  const find = (name: string) =>
    told.find((one) => String(Reflect.get(Object(one), "@type")).endsWith(`/${name}`));
  const info = Object(find("google.rpc.ErrorInfo"));
  assert.equal(info.domain, "idsvc", `the refusal carries ErrorInfo: ${message}`);
  const fields = (Object(find("google.rpc.BadRequest")).fieldViolations ?? []) as Violation[];
  return {
    ok: false,
    code,
    message,
    reason: String(info.reason),
    metadata: info.metadata ?? {},
    violations: fields,
    details: told,
    httpStatus,
    headers,
  };
}
