import "../hardened.js";
import { parentPort } from "node:worker_threads";
import { hashSync, verifySync } from "@node-rs/argon2";
import { readImportedHash } from "./imported-hash/read.ts";
import { argon2Policy } from "./password-policy.ts";
import type { PasswordAnswer, PasswordWork } from "./password-pool.ts";

// The file that a thread of the password pool runs: one task after the other.
parentPort?.on("message", (work: PasswordWork) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window: it has no origin.
  parentPort?.postMessage(answer(work));
});

function answer(work: PasswordWork): PasswordAnswer {
  try {
    return { result: perform(work) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : "unknown" };
  }
}

function perform(work: PasswordWork): string | boolean {
  switch (work.op) {
    case "hash":
      return hashSync(work.password, argon2Policy);
    case "verify":
      return verifySync(work.phc, work.password);
    case "verifyImported":
      return readImportedHash(work.encoded).matches(work.password);
  }
}
