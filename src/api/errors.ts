import { create, createRegistry, type Registry } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  file_google_rpc_error_details,
  RetryInfoSchema,
} from "#gen/google/rpc/error_details_pb.ts";
import { type Status, StatusSchema } from "#gen/google/rpc/status_pb.ts";
import { DomainError, internal } from "../errors.ts";
import { httpStatusOf } from "./transcode/status.ts";

const domain = "idsvc";
const hidden = "INTERNAL";
const defaultRetrySeconds = 1;

/** The types that can stand in the details of an error. */
export const detailTypes: Registry = createRegistry(file_google_rpc_error_details);

/** The HTTP status and headers of a refusal, where HTTP carries them. */
export function httpForm(error: DomainError): { status: number; headers: Record<string, string> } {
  const status = error.httpStatus ?? httpStatusOf(error.code);
  const retry = status === 429 || status === 503;
  const seconds = String(error.retryAfterSeconds ?? defaultRetrySeconds);
  return { status, headers: retry ? { ...error.headers, "retry-after": seconds } : error.headers };
}

/** A refusal as every protocol sends it (A7). Code, message, reason and details are equal in all protocols. */
export function toWire(error: DomainError): Status {
  const details: Any[] = [
    anyPack(
      ErrorInfoSchema,
      create(ErrorInfoSchema, { reason: error.reason, domain, metadata: error.metadata }),
    ),
  ];
  if (error.violations.length > 0) {
    const fieldViolations = error.violations.map(
      ({ field, description, reason = error.reason }) => ({
        field,
        description,
        reason,
      }),
    );
    details.push(anyPack(BadRequestSchema, create(BadRequestSchema, { fieldViolations })));
  }
  if (error.retryAfterSeconds !== undefined) {
    const retryDelay = { seconds: BigInt(error.retryAfterSeconds), nanos: 0 };
    details.push(anyPack(RetryInfoSchema, create(RetryInfoSchema, { retryDelay })));
  }
  return create(StatusSchema, { code: error.code, message: error.message, details });
}

/** Whatever was thrown, as something a caller may see. What is not a refusal of ours says nothing but a request id. */
export function toDomainError(thrown: unknown, requestId: string): DomainError {
  if (thrown instanceof DomainError && (thrown.kind !== "internal" || thrown.reason === hidden)) {
    return thrown;
  }
  return internal(
    "INTERNAL",
    `an internal error happened; tell the operator the request id ${requestId}`,
    {
      metadata: { request_id: requestId },
      cause: thrown,
    },
  );
}
