import { isNearby, nearbyFactor } from "../authz/source.ts";

/** Where a request is served; it is given back once, however often it is left. */
export type Place = { leave(): void };

export type SourceGate = {
  /** Waits until fewer than the most requests of the source are served. */
  enter(source: string): Promise<Place>;
};

type Line = { inside: number; waiting: (() => void)[] };

/**
 * Serves so many requests of each source at once; the others of that source wait in line. However many connections a source has,
 * the event loop comes back to everybody else after `most` steps (authority J12a). Sources on private networks, which most
 * likely are proxies, have fifty times as many places.
 */
export function createSourceGate(most: number): SourceGate {
  const lines = new Map<string, Line>();

  function leave(source: string, line: Line): void {
    const next = line.waiting.shift();
    if (next !== undefined) {
      // What came from others meanwhile goes first.
      setImmediate(next);
      return;
    }
    line.inside -= 1;
    if (line.inside === 0) lines.delete(source);
  }

  return {
    async enter(source) {
      const line = lines.get(source) ?? { inside: 0, waiting: [] };
      lines.set(source, line);
      if (line.inside >= most * (isNearby(source) ? nearbyFactor : 1)) {
        await new Promise<void>((resolve) => line.waiting.push(resolve));
      } else {
        line.inside += 1;
      }
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
