import { json, type OidcAnswer } from "./http.ts";

/** The error values of RFC 6749, RFC 6750, RFC 8628, RFC 8693 and OpenID Connect Core 1.0 that the provider uses. */
export type OAuthErrorCode =
  | "access_denied"
  | "authorization_pending"
  | "consent_required"
  | "expired_token"
  | "insufficient_scope"
  | "interaction_required"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_request"
  | "invalid_scope"
  | "invalid_target"
  | "invalid_token"
  | "login_required"
  | "request_not_supported"
  | "request_uri_not_supported"
  | "server_error"
  | "slow_down"
  | "temporarily_unavailable"
  | "unauthorized_client"
  | "unmet_authentication_requirements"
  | "unsupported_grant_type"
  | "unsupported_response_type";

/** A refusal in the words of OAuth. The description is for people; clients act on the code. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;
  /** What is wrong, where a page can say more about it than the code does. */
  readonly about: "client" | "redirect_uri" | undefined;
  /** Why, where the description may not say it: for the log alone. */
  readonly detail: string | undefined;
  /** The client that is refused, as it named itself or has proven itself: for the log alone. */
  clientId: string | undefined;
  /** The client that is refused has proven itself by a secret or a key. */
  hasProven: boolean;

  constructor(
    code: OAuthErrorCode,
    description: string,
    facts: {
      status?: number;
      headers?: Record<string, string>;
      about?: "client" | "redirect_uri";
      detail?: string | undefined;
      clientId?: string | undefined;
      hasProven?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(description, { cause: facts.cause });
    this.name = "OAuthError";
    this.code = code;
    this.status = facts.status ?? 400;
    this.headers = facts.headers ?? {};
    this.about = facts.about;
    this.detail = facts.detail;
    this.clientId = facts.clientId;
    this.hasProven = facts.hasProven ?? false;
  }
}

/**
 * One line of printable ASCII without quotes and backslash, which is all that a description may hold (RFC 6749 section
 * 4.1.2.1): whatever else got into it becomes a question mark.
 */
export const describe = (description: string): string =>
  description.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, "?");

/** The answer of the endpoints that clients call (RFC 6749 section 5.2). */
export function errorAnswer(error: OAuthError): OidcAnswer {
  const { code, message, status, headers, detail, clientId } = error;
  const body = { error: code, error_description: describe(message) };
  const note = { error: code, reason: detail ?? message, clientId: shownClientId(clientId) };
  const isUnproven = !error.hasProven && provingNothing.has(code);
  return { ...json(status, body, headers), note, isUnproven };
}

// What anybody is told who tries what comes to mind. The others answer codes and tokens that hold, or are no refusals.
const provingNothing: ReadonlySet<OAuthErrorCode> = new Set([
  "invalid_client",
  "invalid_grant",
  "invalid_request",
  "invalid_token",
  "unauthorized_client",
  "unsupported_grant_type",
]);

/** Does what is done for a client: a refusal then names it to the log, and tells whether it has proven itself. */
export async function asClient<T>(
  { clientId, hasProven }: { clientId: string; hasProven: boolean },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OAuthError) {
      error.clientId ??= clientId;
      error.hasProven = hasProven;
    }
    throw error;
  }
}

const longestClientId = 200;
// What we issue begins so: a client that sent its secret in the place of its id is not told by it.
const ourSecrets = /idsvc_[a-z]{2,3}_/;
const shownClientId = (clientId: string | undefined): string | undefined =>
  clientId === undefined || clientId.length > longestClientId || ourSecrets.test(clientId)
    ? undefined
    : clientId;

/** @param detail why, for the log alone */
export const invalidRequest = (description: string, detail?: string): OAuthError =>
  new OAuthError("invalid_request", description, { detail });

/** @param detail why, for the log alone */
export const invalidGrant = (description: string, detail?: string): OAuthError =>
  new OAuthError("invalid_grant", description, { detail });
