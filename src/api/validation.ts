import { createRegistry, type DescMessage, type Message } from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import type { Validator } from "@bufbuild/protovalidate";
import { file_idsvc_options_v1_options } from "#gen/idsvc/options/v1/options_pb.ts";
import { type Awaitable, whenKnown } from "../awaitable.ts";
import { type FieldViolation, invalidArgument } from "../errors.ts";
import { type Inside, insideRecursion } from "./inside-recursion.ts";
import { cutOverlongLists } from "./overlong-lists.ts";
import { compilePrecheck } from "./precheck.ts";
import { type WrongTime, wrongTimes } from "./times-in-range.ts";

/** Gives the validator; a promise only as long as it is being loaded. */
export type Judge = () => Awaitable<Validator>;

let loaded: Awaitable<Validator> | undefined;

/**
 * protovalidate with our own rules, one for all services of a process: it compiles the rules of each message that it judges. With
 * CEL it is 80 modules and 15 MiB, and most processes judge nothing for long (see `requireValid`): it is loaded when first
 * asked for.
 */
export const protovalidate: Judge = () => (loaded ??= load());

async function load(): Promise<Validator> {
  const { createValidator } = await import("@bufbuild/protovalidate");
  return (loaded = createValidator({
    registry: createRegistry(file_idsvc_options_v1_options),
    regexMatch: matchesPattern,
  }));
}

const patterns = new Map<string, RegExp>();

/**
 * Whether a text has a match of a pattern of the schema. All of them are ours, and mean here what they mean to RE2, which
 * the other implementations read them with: no bad pattern is to be feared, and RE2 in JavaScript takes half a second to
 * learn the classes of Unicode.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) patterns.set(pattern, (compiled = new RegExp(pattern, "u")));
  return compiled.test(text);
}

/**
 * Checks messages of one type by the rules of the schema; the refusal names every field that is wrong. A promise only
 * while the validator is being loaded.
 *
 * Most requests are valid, and most rules are plain: a compiled precheck lets those pass at once. Whatever it cannot vouch
 * for, protovalidate judges, so that there is one judge of what is wrong and one wording of it.
 *
 * @throws INVALID_ARGUMENT VALIDATION_FAILED
 */
export function requireValid(
  judge: Judge,
  type: DescMessage,
): (message: Message) => Awaitable<void> {
  // Made for the first message: a process that starts has hundreds of types, and is asked for few of them.
  let precheck: ReturnType<typeof compilePrecheck> | undefined;
  let inside: ReturnType<typeof insideRecursion> | undefined;
  const parts = (message: Message) => {
    inside ??= insideRecursion(type);
    return [{ type, message, path: [] }, ...inside(message)];
  };
  return (message) => {
    precheck ??= compilePrecheck(type);
    if (precheck(message)) return undefined;
    cutOverlongLists(type, message);
    const times = wrongTimes(type, message);
    if (times.length > 0) throw invalid(times.map(toViolation));
    return whenKnown(judge(), (validator) => requireBy(validator, parts(message)));
  };
}

function requireBy(validator: Validator, parts: Inside[]): void {
  const violations = new Map<string, FieldViolation>();
  for (const { type, message, path } of parts) {
    const result = validator.validate(type, message);
    if (result.kind === "error") throw result.error;
    for (const { field, message: description, ruleId } of result.violations ?? []) {
      const fieldPath = pathToString([...path, ...field]);
      violations.set(`${fieldPath} ${ruleId}`, { field: fieldPath, description, reason: ruleId });
    }
  }
  if (violations.size > 0) throw invalid([...violations.values()]);
}

const toViolation = ({ path, description, rule }: WrongTime): FieldViolation => ({
  field: pathToString(path),
  description,
  reason: rule,
});

function invalid(violations: FieldViolation[]): Error {
  const [first] = violations;
  const subject = first === undefined || first.field === "" ? "the request" : first.field;
  const what = `${subject}: ${first?.description ?? "is not valid"}`;
  return invalidArgument("VALIDATION_FAILED", what, { violations });
}
