import assert from "node:assert/strict";
import { isProxy } from "node:util/types";
import type { RawAnswer } from "../support/wire.ts";

// Those that are meant: not served, no answer in time, busy.
const meant = new Set([501, 503, 504]);
const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype];
const before = prototypes.map((each) => Reflect.ownKeys(each).length);

const secrets: string[] = [];
/** Names what nobody may be told who did not ask for it: it was given out once, to another. */
export const keepSecret = (...values: string[]): void => void secrets.push(...values);

/** What no answer may be, whatever was asked (decision 0090): a failure of ours, or a refusal that says nothing. */
export function judgeAnswer({ status, headers, body }: RawAnswer): void {
  assert.ok(status >= 200, `the answer has the status ${status}`);
  assert.ok(status < 500 || meant.has(status), `${status}: ${body.toString("utf8", 0, 500)}`);
  const grpc = Number(headers["grpc-status"] ?? 0);
  // INTERNAL, UNKNOWN and DATA_LOSS.
  assert.ok(![2, 13, 15].includes(grpc), `grpc-status ${grpc}: ${headers["grpc-message"]}`);
  const text = body.toString("latin1");
  const told = text + JSON.stringify(headers);
  assert.ok(!secrets.some((each) => told.includes(each)), "a secret was told");
  assert.doesNotMatch(told, /\$argon2id\$v=\d+\$m=/, "a hash was told");
  assert.doesNotMatch(text, /\n\s+at .*\.ts:\d+/, "a trace of the stack was told");
  if (status >= 400 && headers["content-type"]?.startsWith("application/json") === true) {
    const refusal = Object(JSON.parse(body.toString("utf8")));
    assert.ok(
      "code" in refusal || "error" in refusal,
      `a refusal without a code: ${text.slice(0, 300)}`,
    );
  }
  requireCleanPrototypes();
}

/** Nobody has put anything on what all objects share. */
export function requireCleanPrototypes(): void {
  const now = prototypes.map((each) => Reflect.ownKeys(each).length);
  assert.deepEqual(now, before, "a prototype was changed");
  assert.ok(!prototypes.some(isProxy));
}
