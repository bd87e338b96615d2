const failuresToOpen = 10;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

type Circuit = { failures: number; pauseMs: number; openUntil: number; isTrying: boolean };

/**
 * Spares targets that are down, and those who would wait for them. After ten failures in a row a target is not called
 * for a second; then one call tries it, and while that fails the pause doubles up to a minute, shortened by up to half
 * at random. Counted in this process.
 */
export type Circuits = {
  /** Whether a call may begin now. Whoever gets true must tell how it ended. */
  begin(name: string): boolean;
  /** `isUp`: the target answered, whatever it said. Undefined: the call was given up, which says nothing. */
  end(name: string, isUp: boolean | undefined): void;
  /** Those that may not be called now. */
  open(): string[];
};

export function createCircuits(clock: { now: () => number; random: () => number }): Circuits {
  // Only those that have failed since they last answered.
  const circuits = new Map<string, Circuit>();
  const isOpen = ({ failures, openUntil, isTrying }: Circuit) =>
    failures >= failuresToOpen && (isTrying || clock.now() < openUntil);

  return {
    begin(name) {
      const circuit = circuits.get(name);
      if (circuit === undefined || circuit.failures < failuresToOpen) return true;
      if (isOpen(circuit)) return false;
      circuit.isTrying = true;
      return true;
    },
    end(name, isUp) {
      if (isUp === true) {
        circuits.delete(name);
        return;
      }
      const circuit = circuits.get(name) ?? {
        failures: 0,
        pauseMs: firstPauseMs / 2,
        openUntil: 0,
        isTrying: false,
      };
      const wasTrying = circuit.isTrying;
      circuit.isTrying = false;
      if (isUp === undefined) return;
      circuit.failures += 1;
      circuits.set(name, circuit);
      // Calls that were under way when it opened fail late: they tell nothing new.
      const opensNow = circuit.failures === failuresToOpen || wasTrying;
      if (!opensNow) return;
      circuit.pauseMs = Math.min(circuit.pauseMs * 2, longestPauseMs);
      circuit.openUntil = clock.now() + circuit.pauseMs * (1 - clock.random() / 2);
    },
    open: () => [...circuits].filter(([, circuit]) => isOpen(circuit)).map(([name]) => name),
  };
}
