import { type DomainError, invalidField } from "../errors.ts";

const longest = 200;
// Letters of living scripts are written with marks that no form of Unicode joins to them; those that nobody sees are none.
const form = /^(?:\p{L}(?:(?!\p{DI})[\p{Mn}\p{Mc}])*|[\p{Nd}._@+:|-])+$/u;
const digits = /^\p{Nd}+$/u;
// What the service calls its own: editors in the log, callers that nobody is, and itself.
const reserved = /^(?:0|system|anonymous|bootstrap|idsvc)(?::|$)/i;

/** Why an id that somebody chose is none, if it is none (J7). */
export function refusalOfId(
  id: string,
  field: string,
  { allDigits = false } = {},
): DomainError | undefined {
  const isDots = id === "." || id === "..";
  if (!form.test(id) || isDots || [...id].length > longest || id.normalize("NFC") !== id) {
    return invalidField(
      field,
      "ID_MALFORMED",
      `must be 1 to ${longest} letters, digits and . _ - @ + : | in Unicode's form NFC, and not . or ..`,
    );
  }
  if (reserved.test(id)) {
    return invalidField(
      field,
      "ID_RESERVED",
      "must not be 0, system, anonymous, bootstrap or idsvc, nor begin with one of them and a colon: these are names of the service",
    );
  }
  if (!allDigits && digits.test(id)) {
    return invalidField(
      field,
      "ID_ALL_DIGITS",
      "must not be of digits alone: such ids are given by the service. Leave it out to be given one",
    );
  }
  return undefined;
}

/**
 * @param rules `allDigits`: for what is brought from another system, whose ids may have been given as ours are
 * @throws INVALID_ARGUMENT ID_MALFORMED, ID_RESERVED, ID_ALL_DIGITS
 */
export function requireChosenId(id: string, field: string, rules?: { allDigits: boolean }): void {
  const refusal = refusalOfId(id, field, rules);
  if (refusal !== undefined) throw refusal;
}
