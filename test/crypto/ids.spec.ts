// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createIdSource } from "../../src/crypto/ids.ts";

const noon = Date.UTC(2026, 5, 1, 12);
const draw = (next: () => string, count: number) =>
  Array.from({ length: count }, () => BigInt(next()));
const isIncreasing = (ids: bigint[]) => ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? id));

describe("drawing ids", () => {
  it("gives decimal numbers of at most 63 bits, now and in a hundred years", () => {
    for (const now of [
      Date.now(),
      Date.UTC(2025, 0, 1),
      Date.UTC(2126, 0, 1),
      Date.UTC(2200, 0, 1),
    ]) {
      const id = createIdSource(() => now)();
      assert.match(id, /^(0|[1-9]\d{0,18})$/);
      assert.ok(BigInt(id) < 1n << 63n);
    }
  });

  it("orders them by time, also between processes", () => {
    const earlier = createIdSource(() => noon)();
    const later = createIdSource(() => noon + 1)();
    assert.ok(BigInt(later) > BigInt(earlier));
  });

  it("never repeats and never decreases while the clock stands still", () =>
    assert.ok(
      isIncreasing(
        draw(
          createIdSource(() => noon),
          100_000,
        ),
      ),
    ));

  it("never repeats and never decreases when the clock steps back", () => {
    let now = noon;
    const next = createIdSource(() => now);
    const ids = draw(next, 10);
    for (const step of [-1, -3_600_000, -86_400_000 * 365 * 60, 5]) {
      now += step;
      ids.push(...draw(next, 10));
    }
    assert.ok(isIncreasing(ids));
  });

  it("follows the clock again once it has caught up", () => {
    let now = noon;
    const next = createIdSource(() => now);
    next();
    now -= 1000;
    next();
    now += 2000;
    assert.equal(BigInt(next()) >> 21n, BigInt(noon + 1000 - Date.UTC(2025, 0, 1)));
  });

  it("keeps up with 15 ids a millisecond without running ahead of the clock", () => {
    let now = noon;
    const next = createIdSource(() => now);
    for (; now < noon + 1000; now++) draw(next, 15);
    const ahead = Number(BigInt(next()) >> 21n) - (now - Date.UTC(2025, 0, 1));
    assert.ok(ahead <= 2, `${ahead} ms ahead`);
  });

  it("does not give the next id away by its neighbour", () => {
    const ids = draw(
      createIdSource(() => noon),
      10_001,
    );
    const steps = new Set(ids.slice(1).map((id, at) => id - (ids[at] ?? id)));
    assert.ok(steps.size > 9_000, `${steps.size} different steps in 10000`);
    const firsts = new Set(Array.from({ length: 1000 }, () => createIdSource(() => noon)()));
    assert.ok(firsts.size > 990);
  });
});
