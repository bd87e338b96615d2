import type { ValidatorSchema } from "./validator.ts";

/** What one check may cost, in steps of some nanoseconds: about a quarter of a second at worst. */
const maxSteps = 10_000_000;
/** What it costs to look at one value by one schema, however simple. */
const perVisit = 50;

/** Thrown inside a check, so that no keyword can take it for an answer. */
class OutOfSteps extends Error {}

/** Keeps data and a schema that together would take too long from holding up the process. */
export type Budget = {
  spend(steps: number): void;
  /** What the check gives, or nothing when it would have taken too long. */
  within<T>(check: () => T): T | undefined;
};

export function createBudget(): Budget {
  let left = 0;
  return {
    spend(steps) {
      left -= steps;
      if (left < 0) throw new OutOfSteps();
    },
    within(check) {
      left = maxSteps;
      try {
        return check();
      } catch (error) {
        if (error instanceof OutOfSteps) return undefined;
        throw error;
      }
    },
  };
}

type Keywords = Record<string, unknown>;

/** The schema, paid for each time before it looks at a value. */
export function metered(schema: Keywords, budget: Budget): ValidatorSchema {
  const { properties = {}, patternProperties = {} } = schema as { [name: string]: object };
  const names = Object.keys(properties).length + 50 * Object.keys(patternProperties).length;
  const lists = ["allOf", "anyOf", "oneOf", "prefixItems"].map((name) =>
    [schema[name] ?? []].flat(),
  );
  const values = ["enum", "const", "required", "dependentRequired"].map((name) => schema[name]);
  // The validator copies the list of results with every schema of a list.
  const fixed =
    lists.reduce((sum, { length }) => sum + length * length, perVisit + names) +
    JSON.stringify(values).length;
  const looksAtNames = ["additionalProperties", "unevaluatedProperties", "patternProperties"].some(
    (name) => name in schema,
  );
  const looksInside = ["uniqueItems", "enum", "const", "unevaluatedItems"].some(
    (name) => name in schema,
  );
  const toll = {
    check(value: unknown) {
      budget.spend(fixed);
      if (typeof value !== "object" || value === null) return true;
      if (looksAtNames) budget.spend((names + 1) * Object.keys(value).join().length);
      if (looksInside) budget.spend(JSON.stringify(value).length * 5);
      return true;
    },
    error: () => "",
  };
  return { allOf: [{ "~refine": [toll] }, schema] };
}
