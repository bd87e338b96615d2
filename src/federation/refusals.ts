import { type DomainError, failedPrecondition, unavailable } from "../errors.ts";

/** What the provider said proves nobody: forged, of another provider, too late, or not what its protocol wants. */
export const answerInvalid = (what: string, cause?: unknown): DomainError =>
  failedPrecondition("IDP_ANSWER_INVALID", `the answer of the provider proves nobody: ${what}`, {
    cause,
  });

/** What is wrong with a token: the claim that does not hold, or a code. */
export const tokenInvalid = (what: string): string => `its token is not valid (${what})`;

/** The user, or the provider, did not want to. */
export const denied = (error: string): DomainError =>
  failedPrecondition("IDP_DENIED", `the provider did not let the user in: ${printable(error)}`, {
    metadata: { error: printable(error) },
  });

/** It is down, slow, or does not speak its protocol: the next try may succeed. */
export const providerUnavailable = (cause: unknown): DomainError =>
  unavailable("IDP_UNAVAILABLE", "the provider does not answer: try again in a minute", {
    cause,
    retryAfterSeconds: 30,
  });

export const configInvalid = (what: string, cause?: unknown): DomainError =>
  failedPrecondition("IDP_CONFIG_INVALID", `the provider cannot be used: ${what}`, { cause });

/** What a provider says is not to be trusted in a log or on a page. */
export const printable = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 100);
