import type { Step } from "./action.ts";

/**
 * The shortest sequence of these steps that still breaks something: without halves, quarters and so on down to single steps,
 * each time from a new world.
 */
export async function shrink(
  steps: readonly Step[],
  isBroken: (steps: readonly Step[]) => Promise<boolean>,
): Promise<readonly Step[]> {
  let left = steps;
  for (
    let size = Math.ceil(left.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = left.length - size; from > -size; from -= size) {
      const start = Math.max(0, from);
      const shorter = [...left.slice(0, start), ...left.slice(from + size)];
      if (shorter.length < left.length && (await isBroken(shorter))) left = shorter;
    }
  }
  return left;
}

/** A test that takes the same steps. */
export const asTest = (role: string, steps: readonly Step[], broken: readonly string[]): string =>
  `  it("${role}: ${(broken[0] ?? "").replaceAll('"', "'")}", async () => {
    assert.deepEqual(await replay(service, "${role}", [
${steps.map((step) => `      ${JSON.stringify(step)},`).join("\n")}
    ]), []);
  });`;
