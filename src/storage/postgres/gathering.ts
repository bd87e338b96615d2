// A batch costs this process and the database much that does not depend on how many units it has: it waits until it has this part of
// the units of the last one, for so long at most.
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
    /** Whether so many units wait for more; asked again with each that comes. */
    waits(units: number): boolean {
      if (units === 0 || isDue || units >= inLastBatch * worthSending) return false;
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
