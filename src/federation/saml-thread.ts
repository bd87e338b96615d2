import "../hardened.js";
import { parentPort } from "node:worker_threads";
import { DomainError } from "../errors.ts";
import type { ThreadAnswer } from "../threads/pool.ts";
import { describeUs, readResponse, requestLogin } from "./saml-messages.ts";
import type { SamlOutcome, SamlWork } from "./saml-pool.ts";

// The file that a thread of the SAML pool runs: one message after the other.
let last: Promise<void> = Promise.resolve();
parentPort?.on("message", (work: SamlWork) => {
  last = serve(work, last);
});

async function serve(work: SamlWork, before: Promise<void>): Promise<void> {
  await before;
  const answer = await answerTo(work);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window: it has no origin.
  parentPort?.postMessage(answer);
}

async function answerTo(work: SamlWork): Promise<ThreadAnswer<SamlOutcome>> {
  try {
    return { result: { done: await perform(work) } };
  } catch (error) {
    if (!(error instanceof DomainError)) {
      return { error: error instanceof Error ? (error.stack ?? error.message) : "unknown" };
    }
    const { kind, reason, message, metadata, cause } = error;
    const why = cause instanceof Error ? cause.message : undefined;
    return { result: { refused: { kind, reason, message, metadata, why } } };
  }
}

function perform(work: SamlWork) {
  switch (work.op) {
    case "request":
      return requestLogin(work.own, work.wanted);
    case "response":
      return readResponse(work.own, work.answered);
    case "describe":
      return describeUs(work.own, work.baseUrl);
  }
}
