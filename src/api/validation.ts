import { createRegistry, type DescMessage, type Message } from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import type { Validator } from "@bufbuild/protovalidate";
import { file_idsvc_options_v1_options } from "#gen/idsvc/options/v1/options_pb.ts";
import { invalidArgument } from "../errors.ts";
import { surelyValid } from "./surely-valid.ts";

/** Gives the validator; a promise only as long as it is being loaded. */
export type Judge = () => Validator | Promise<Validator>;

/**
 * protovalidate with our own rules. With CEL it is 80 modules and 15 MiB, and most processes judge nothing for long
 * (see `requireValid`): it is loaded when first asked for.
 */
export function protovalidate(): Judge {
  let validator: Validator | Promise<Validator> | undefined;
  const load = async (): Promise<Validator> => {
    const { createValidator } = await import("@bufbuild/protovalidate");
    return (validator = createValidator({
      registry: createRegistry(file_idsvc_options_v1_options),
    }));
  };
  return () => (validator ??= load());
}

/**
 * Checks messages of one type by the rules of the schema; the refusal names every field that is wrong. A promise only
 * while the validator is being loaded.
 *
 * Most requests are valid, and most rules are plain: a compiled check lets those pass at once. Whatever it cannot vouch
 * for, protovalidate judges, so that there is one judge of what is wrong and one wording of it.
 *
 * @throws INVALID_ARGUMENT VALIDATION_FAILED
 */
export function requireValid(
  judge: Judge,
  type: DescMessage,
): (message: Message) => void | Promise<void> {
  const passes = surelyValid(type);
  return (message) => {
    if (passes(message)) return undefined;
    const validator = judge();
    return validator instanceof Promise
      ? validator.then((loaded) => requireBy(loaded, type, message))
      : requireBy(validator, type, message);
  };
}

function requireBy(validator: Validator, type: DescMessage, message: Message): void {
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
  throw invalidArgument("VALIDATION_FAILED", `${place}: ${first?.description ?? "is not valid"}`, {
    violations,
  });
}
