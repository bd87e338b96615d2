import assert from "node:assert/strict";
import { DomainError, type Kind } from "../../../src/errors.ts";

type Refusal = {
  kind: Kind;
  reason: string;
  field?: string;
  message?: string;
  httpStatus?: number;
};

/** Proves that a call is refused, and with what. */
export function assertRefused(call: () => unknown, expected: Refusal): void {
  assert.throws(call, (error) => {
    assert.ok(error instanceof DomainError, String(error));
    const { kind, reason, violations, httpStatus } = error;
    assert.deepEqual(
      { kind, reason, field: violations[0]?.field, httpStatus },
      {
        kind: expected.kind,
        reason: expected.reason,
        field: expected.field,
        httpStatus: expected.httpStatus,
      },
      error.message,
    );
    const said = expected.message ?? "";
    assert.ok(error.message.includes(said), `"${error.message}" does not say "${said}"`);
    return true;
  });
}
