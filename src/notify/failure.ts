import { DomainError, failedPrecondition } from "../errors.ts";

/** The other side will not take this message, now or later: nobody tries again. `message` names no address. */
export class MessageRefused extends DomainError {
  constructor(provider: string, answer: string) {
    super("failedPrecondition", "MESSAGE_REFUSED", `the provider refuses the message: ${answer}`, {
      metadata: { provider },
    });
    this.name = "MessageRefused";
  }
}

/** The provider cannot be reached or is busy: the message waits. */
export const messageDelayed = (provider: string, cause: string): DomainError =>
  new DomainError("unavailable", "MESSAGE_DELAYED", `the provider cannot send: ${cause}`, {
    metadata: { provider },
    retryAfterSeconds: 5,
  });

/** The provider does not take the user and the password that are set for it: messages wait until they are mended. */
export const loginRefused = (provider: string, cause: string): DomainError =>
  failedPrecondition(
    "MESSAGE_LOGIN_REFUSED",
    `the mail server refuses the user and the password of the provider (${cause}): set the right ones`,
    { metadata: { provider } },
  );
