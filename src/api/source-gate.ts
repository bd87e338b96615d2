import { isNearby, nearbyFactor } from "../authz/source.ts";
import { callerGone } from "../errors.ts";

/** The right to be served; it is given back once, however often it is left. */
export type Permit = { leave(): void };

/** Calls the listener once when whoever waits has gone. */
export type WhenGone = (listener: () => void) => void;

export type SourceGate = {
  /**
   * Waits until fewer than the most requests of the source are served, and until it is its turn.
   * @throws CANCELLED when they go before: nothing is kept of them, so that a line is no longer than a source's connections
   */
  enter(source: string, whenGone: WhenGone): Promise<Permit>;
};

/** How many requests of one source are served at once, and in a second while it always has some. */
export type GateSizes = { atOnce: number; perSecond: number };

type Line = {
  inside: number;
  waiting: (() => void)[];
  /** How many may still begin in this second, at the time that is named beside it. */
  left: number;
  at: number;
  timer: NodeJS.Timeout | undefined;
};

/**
 * Serves so many requests of each source at once and in a second; the others of that source wait in line. However many
 * connections a source has, the event loop comes back to everybody else, and most of its time is theirs (J12a).
 * Sources on private networks, which most likely are proxies, have fifty times as much.
 */
export function createSourceGate(sizes: GateSizes): SourceGate {
  const lines = new Map<string, Line>();

  function sizesOf(source: string): GateSizes {
    const factor = isNearby(source) ? nearbyFactor : 1;
    return { atOnce: sizes.atOnce * factor, perSecond: sizes.perSecond * factor };
  }

  /**
   * Lets in whose turn it is, one for each turn of the event loop: what came from others meanwhile goes first. The rest is looked
   * at again when somebody leaves or time has passed.
   */
  function admit(source: string, line: Line): void {
    const { atOnce, perSecond } = sizesOf(source);
    const now = performance.now();
    line.left = Math.min(perSecond, line.left + ((now - line.at) * perSecond) / 1_000);
    line.at = now;
    if (line.inside >= atOnce || line.waiting.length === 0) return;
    if (line.left >= 1) {
      line.inside += 1;
      line.left -= 1;
      line.waiting.shift()?.();
      if (line.waiting.length > 0) setImmediate(admit, source, line);
      return;
    }
    if (line.timer !== undefined) return;
    const look = () => {
      line.timer = undefined;
      admit(source, line);
    };
    line.timer = setTimeout(look, Math.ceil(((1 - line.left) * 1_000) / perSecond));
  }

  function leave(source: string, line: Line): void {
    line.inside -= 1;
    if (line.inside === 0 && line.waiting.length === 0) lines.delete(source);
    else if (line.waiting.length > 0) setImmediate(admit, source, line);
  }

  return {
    async enter(source, whenGone) {
      const fresh = () => ({
        inside: 0,
        waiting: [],
        timer: undefined,
        left: sizesOf(source).perSecond,
        at: performance.now(),
      });
      const line: Line = lines.get(source) ?? fresh();
      lines.set(source, line);
      await new Promise<void>((resolve, reject) => {
        line.waiting.push(resolve);
        whenGone(() => {
          const nth = line.waiting.indexOf(resolve);
          if (nth < 0) return;
          line.waiting.splice(nth, 1);
          reject(callerGone());
        });
        admit(source, line);
      });
      let isLeft = false;
      return {
        leave() {
          if (!isLeft) leave(source, line);
          isLeft = true;
        },
      };
    },
  };
}
