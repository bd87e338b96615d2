import { setTimeout as delay } from "node:timers/promises";
import { sourceOf } from "../authz/source.ts";
import { createSourceGate, type WhenGone } from "./source-gate.ts";

/**
 * Waits before whoever has spent a budget is told so: a second, and while many of the same source wait, until it is their turn.
 * However many connections ask again and again, few of them are answered, so that refusing them slows nobody else (J12a).
 *
 * @throws CANCELLED when they go before it is their turn
 */
export type SlowDown = (peer: string, whenGone: WhenGone) => Promise<void>;

const waitMs = 1_000;
const answersOfSource = { atOnce: 50, perSecond: 50 };

/** The one line of this process in which all who have spent a budget wait. */
export function createSlowDown(): SlowDown {
  const gate = createSourceGate(answersOfSource);
  return async (peer, whenGone) => {
    const permit = await gate.enter(sourceOf(peer), whenGone);
    await delay(waitMs);
    permit.leave();
  };
}
