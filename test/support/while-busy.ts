import { setTimeout as delay } from "node:timers/promises";

const retryAfterMs = 1_000;
const mostAttempts = 10;

/**
 * Sends again what the store was too busy for, as clients do: what has waited for a second on a machine with much else to do is refused
 * (STORE_BUSY), and nothing has happened.
 */
export async function whileBusy<A>(
  send: () => Promise<A>,
  isBusy: (answer: A) => boolean,
): Promise<A> {
  for (let attempt = 1; ; attempt++) {
    const answer = await send();
    if (!isBusy(answer) || attempt === mostAttempts) return answer;
    await delay(retryAfterMs);
  }
}
