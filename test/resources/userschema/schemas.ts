import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { DomainError } from "../../../src/errors.ts";
import type { UserSchema } from "../../../src/resources/userschema/built-in.ts";

/** A user schema of this document. */
export const schemaOf = (schema: JsonObject): UserSchema => ({
  id: "1",
  type: "test",
  revision: 1,
  state: "active",
  schema: { type: "object", ...schema },
  possibleAuthenticators: [],
});

/** What is refused, and with which code, reason and fields. */
export function refusalOf(act: () => unknown): { code: number; reason: string; fields: string[] } {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof DomainError, String(error));
    const { code, reason, violations } = error;
    return { code, reason, fields: violations.map(({ field }) => field) };
  }
  return assert.fail("nothing was refused");
}
