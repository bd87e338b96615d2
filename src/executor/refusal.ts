import type { JsonValue } from "@bufbuild/protobuf";
import { DomainError, failedPrecondition, type Kind } from "../errors.ts";

/** What a target wants the caller to be answered instead. */
export type Forwarded = { status: number; message: string };

const kinds: Readonly<Record<number, Kind>> = {
  400: "invalidArgument",
  401: "unauthenticated",
  403: "permissionDenied",
  404: "notFound",
  409: "alreadyExists",
  429: "resourceExhausted",
};

const longestMessage = 500;

/** Whether an answer asks for a refusal (X7): `forwardedStatusCode`, and perhaps `forwardedErrorMessage`. */
export function forwardedBy(answer: JsonValue): Forwarded | undefined {
  if (answer === null || typeof answer !== "object" || Array.isArray(answer)) return undefined;
  const { forwardedStatusCode: status, forwardedErrorMessage: message } = answer;
  if (typeof status !== "number") return undefined;
  return { status, message: typeof message === "string" ? shown(message) : "" };
}

// It is shown to whoever calls, in logs and terminals too.
const shown = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")
    .slice(0, longestMessage)
    .toWellFormed();

type About = { targetId: string; deliveryId: string };

const metadataOf = ({ targetId, deliveryId }: About) => ({
  target: targetId,
  delivery: deliveryId,
});

/**
 * The refusal that a target asked for. Of the statuses 400 to 499 those that stand for an error of ours give it; all
 * else is a failed precondition with the message.
 */
export function forwardedRefusal({ status, message }: Forwarded, about: About): DomainError {
  const kind = kinds[status] ?? "failedPrecondition";
  const text = message === "" ? "a target of an execution refuses the call" : message;
  return new DomainError(kind, "EXECUTION_REFUSED", text, {
    metadata: metadataOf(about),
    ...(kind === "unauthenticated" ? { headers: { "www-authenticate": "Bearer" } } : {}),
  });
}

/** A target failed whose execution must not go on without it; nothing of its answer is told (X8). */
export const executionFailed = (about: About): DomainError =>
  failedPrecondition(
    "EXECUTION_FAILED",
    `target ${about.targetId} of an execution failed (delivery ${about.deliveryId}), and the call does not go on without it`,
    { metadata: metadataOf(about) },
  );

/** The call comes from so many targets that called one another that it is taken for a loop (X10). */
export const tooDeep = (executionId: string): DomainError =>
  failedPrecondition(
    "EXECUTION_DEPTH_EXCEEDED",
    "the call was made by a target that was called by a target, and so on: executions go no deeper",
    { metadata: { execution: executionId } },
  );
