import { invalidField } from "../../errors.ts";

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds of a span as Go writes it. @throws INVALID_ARGUMENT IMPORT_OPTION_INVALID */
export function spanMs(text: string, field: string): number {
  if (!/^(?:\d{1,9}(?:ns|us|ms|s|m|h))+$/.test(text)) {
    throw optionInvalid(field, "a time such as 90s, 30m or 1h30m");
  }
  return [...text.matchAll(/(\d+)([a-z]+)/g)].reduce(
    (sum, [, number, unit = ""]) => sum + Number(number) * (units[unit] ?? 0),
    0,
  );
}

export const optionInvalid = (field: string, right: string) =>
  invalidField(field, "IMPORT_OPTION_INVALID", `must be ${right}`);
