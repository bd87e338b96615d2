import { DomainError } from "../errors.ts";

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
