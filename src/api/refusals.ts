import { type DomainError, resourceExhausted, unimplemented, invalidArgument } from "../errors.ts";

/** @param what of the request is too large */
export const bodyTooLarge = (what: string, limit: number): DomainError =>
  resourceExhausted("BODY_TOO_LARGE", `the ${what} is larger than ${limit} bytes`, {
    httpStatus: 413,
    metadata: { maximum_bytes: String(limit) },
  });

/** @param allowed the HTTP methods that the path is served by */
export const methodNotAllowed = (
  { httpMethod, path }: { httpMethod: string; path: string },
  allowed: readonly string[],
): DomainError =>
  unimplemented(
    "METHOD_NOT_ALLOWED",
    `${httpMethod} is not served at ${path}: use ${allowed.join(", ")}`,
    { httpStatus: 405, headers: { allow: allowed.join(", ") } },
  );

export const unsupportedMediaType = (text: string, headers: Record<string, string> = {}) =>
  invalidArgument("UNSUPPORTED_MEDIA_TYPE", text, { httpStatus: 415, headers });

export const timeoutMalformed = (text: string) => invalidArgument("TIMEOUT_MALFORMED", text);
