import { DomainError } from "../errors.ts";
import type { Problem, ProblemCode } from "../login/page.ts";
import { toProblems } from "../login/route.ts";
import { isTextKey } from "../texts/texts.ts";

/**
 * What a refusal of a method means to the person at a form with these fields.
 *
 * @throws what is none of theirs: errors of the service, and what asks for a proof of who they are
 */
export function problemsAt(error: unknown, fields: readonly string[] = []): readonly Problem[] {
  if (!(error instanceof DomainError)) throw error;
  const { kind, reason, violations, metadata } = error;
  if (kind === "failedPrecondition" || kind === "permissionDenied") {
    const key = `problem.${reason}`;
    if (!isTextKey(key)) throw error;
    const field = fields.find((name) => metadata["field"]?.endsWith(name));
    return [{ code: reason as ProblemCode, ...(field === undefined ? {} : { field }) }];
  }
  const known = toProblems(error);
  return known.map((problem, at) => {
    const path = violations[at]?.field ?? "";
    const field = fields.find((name) => path.endsWith(name));
    return field === undefined ? problem : { ...problem, field };
  });
}

/** Runs what a form asks for; what is wrong with it, nothing when it is done. */
export async function tried(
  work: () => Promise<unknown>,
  fields: readonly string[] = [],
): Promise<readonly Problem[]> {
  try {
    await work();
    return [];
  } catch (error) {
    return problemsAt(error, fields);
  }
}

/** Runs what takes something away; what is gone already, or was never theirs, is nothing to tell. */
export async function taken(work: () => Promise<unknown>): Promise<readonly Problem[]> {
  try {
    return await tried(work);
  } catch (error) {
    if (error instanceof DomainError && error.kind === "notFound") return [];
    throw error;
  }
}
