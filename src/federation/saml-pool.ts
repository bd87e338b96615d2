import { extname } from "node:path";
import { DomainError, internal, type Kind, unavailable } from "../errors.ts";
import { createThreadPool } from "../threads/pool.ts";
import { answerInvalid } from "./refusals.ts";
import type { Asserted, Own } from "./saml-format.ts";
import type { Answered, requestLogin, Wanted } from "./saml-messages.ts";

/** What the thread does. */
export type SamlWork =
  | { op: "request"; own: Own; wanted: Wanted }
  | { op: "response"; own: Own; answered: Answered }
  | { op: "describe"; own: Own; baseUrl: string };

type ResultOf<W extends SamlWork> = W extends { op: "request" }
  ? Awaited<ReturnType<typeof requestLogin>>
  : W extends { op: "response" }
    ? Asserted
    : string;

/** What became of it; a refusal as what it is made of. */
export type SamlOutcome =
  | { done: ResultOf<SamlWork> }
  | {
      refused: {
        kind: Kind;
        reason: string;
        message: string;
        metadata: Record<string, string>;
        why: string | undefined;
      };
    };

// A response at its bounds takes less than a second, most take some milliseconds.
const timeoutMs = 10_000;
const mostWaiting = 64;
const retryAfterSeconds = 5;

const pool = createThreadPool<SamlWork, SamlOutcome>({
  script: new URL(`./saml-thread${extname(import.meta.url)}`, import.meta.url),
  threads: 1,
  mostWaiting,
  timeoutMs,
  refusals: {
    busy: () =>
      unavailable("IDP_BUSY", "too many answers of providers are being read: try again", {
        retryAfterSeconds,
      }),
    failed: (cause) => internal("SAML_FAILED", "a message of SAML could not be read", { cause }),
    tooLong: () => answerInvalid("reading it takes too long"),
  },
});

/**
 * Has a message of SAML made or read by the thread that does nothing else: its libraries take a time that grows faster than the
 * document (J17), and half a start's memory.
 *
 * @param source whose request it is: sources take turns
 * @throws UNAVAILABLE IDP_BUSY
 */
export async function inSamlThread<W extends SamlWork>(
  work: W,
  source?: string,
): Promise<ResultOf<W>> {
  const outcome = await pool.run(work, source);
  // The one cast: the thread answers an operation with the result of its type.
  if ("done" in outcome) return outcome.done as ResultOf<W>;
  const { kind, reason, message, metadata, why } = outcome.refused;
  const cause = why === undefined ? undefined : new Error(why);
  throw new DomainError(kind, reason, message, { metadata, cause });
}
