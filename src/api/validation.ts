import type { DescMessage, Message } from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import type { Validator } from "@bufbuild/protovalidate";
import { invalidArgument } from "../errors.ts";
import { surelyValid } from "./surely-valid.ts";

/**
 * Checks messages of one type by the rules of the schema; the refusal names every field that is wrong.
 *
 * Most requests are valid, and most rules are plain: a compiled check lets those pass at once. Whatever it cannot vouch
 * for, protovalidate judges, so that there is one judge of what is wrong and one wording of it.
 */
export function requireValid(validator: Validator, type: DescMessage): (message: Message) => void {
  const passes = surelyValid(type);
  return (message) => {
    if (passes(message)) return;
    const result = validator.validate(type, message);
    if (result.kind === "valid") return;
    if (result.kind === "error") throw result.error;
    const violations = result.violations.map((violation) => ({
      field: pathToString(violation.field),
      description: violation.message,
      reason: violation.ruleId,
    }));
    const [first] = violations;
    const place = first === undefined || first.field === "" ? "the request" : first.field;
    throw invalidArgument(
      "VALIDATION_FAILED",
      `${place}: ${first?.description ?? "is not valid"}`,
      {
        violations,
      },
    );
  };
}
