// A batch costs much that does not depend on how many units it has: it waits until it has this part of the units of the last one, for so
// long at most.
const worthSending = 0.75;
const longestGatherMs = 2;

/**
 * Lets a batch wait that has much fewer units than the last one: whoever was answered with that one is likely to ask again.
 *
 * @param send is called when a batch has waited for long enough
 */
export function createGathering(send: () => void) {
  let inLastBatch = 0;
  let timer: NodeJS.Timeout | undefined;
  let isDue = false;
  return {
    /**
     * Whether so many units wait for more; asked again with each that comes.
     *
     * @param since when the first of them came, where the time that it has waited counts
     */
    waits(units: number, since = Date.now()): boolean {
      const isFew = units > 0 && units < inLastBatch * worthSending;
      if (!isFew || isDue || Date.now() - since >= longestGatherMs) return false;
      timer ??= setTimeout(() => {
        isDue = true;
        send();
      }, longestGatherMs);
      return true;
    },
    sent(units: number): void {
      clearTimeout(timer);
      timer = undefined;
      isDue = false;
      inLastBatch = units;
    },
  };
}
