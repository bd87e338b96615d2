import type { DescMessage, Message } from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import type { Validator } from "@bufbuild/protovalidate";
import { invalidArgument } from "../errors.ts";

/** Checks messages of one type by the rules of the schema; the refusal names every field that is wrong. */
export function requireValid(validator: Validator, type: DescMessage): (message: Message) => void {
  return (message) => {
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
