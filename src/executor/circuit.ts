const failuresToOpen = 10;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
const mostRemembered = 10_000;

type Circuit = {
  url: string;
  failures: number;
  pauseMs: number;
  openUntil: number;
  isTrying: boolean;
};
type Target = { id: string; url: string };

/**
 * Spares targets that are down, and those who would wait for them. After ten failures in a row a target is not called
 * for a second; then one call tries it, and while that fails the pause doubles up to a minute, shortened by up to half
 * at random. Counted in this process.
 */
export type Circuits = {
  /** Whether a call may begin now. Whoever gets true must tell how it ended. */
  begin(target: Target): boolean;
  /** `isUp`: the target answered, whatever it said. Undefined: the call was given up, which says nothing. */
  end(target: Target, isUp: boolean | undefined): void;
  /** Targets of which fewer calls than usual may be begun now: none, or the one that tries it. */
  limits(): ReadonlyMap<string, number>;
};

export function createCircuits(clock: { now: () => number; random: () => number }): Circuits {
  // Only those that have failed since they last answered.
  const circuits = new Map<string, Circuit>();
  const isTripped = ({ failures }: Circuit) => failures >= failuresToOpen;
  const mayTry = ({ openUntil, isTrying }: Circuit) => !isTrying && clock.now() >= openUntil;

  /** What is known of the target. Another address is another system: what was known of the old one says nothing of it. */
  function circuitOf({ id, url }: Target): Circuit | undefined {
    const circuit = circuits.get(id);
    if (circuit === undefined || circuit.url === url) return circuit;
    circuits.delete(id);
    return undefined;
  }

  function remember({ id, url }: Target): Circuit {
    const made = { url, failures: 0, pauseMs: firstPauseMs / 2, openUntil: 0, isTrying: false };
    circuits.set(id, made);
    const [oldest] = circuits.keys();
    if (circuits.size > mostRemembered && oldest !== undefined) circuits.delete(oldest);
    return made;
  }

  return {
    begin(target) {
      const circuit = circuitOf(target);
      if (circuit === undefined || !isTripped(circuit)) return true;
      if (!mayTry(circuit)) return false;
      circuit.isTrying = true;
      return true;
    },
    end(target, isUp) {
      const known = circuits.get(target.id);
      // A call of the old address ended late.
      if (known !== undefined && known.url !== target.url) return;
      if (isUp === true) {
        circuits.delete(target.id);
        return;
      }
      const wasTrying = known?.isTrying ?? false;
      if (known !== undefined) known.isTrying = false;
      if (isUp === undefined) return;
      const circuit = known ?? remember(target);
      circuit.failures += 1;
      // Calls that were under way when it opened fail late: they tell nothing new.
      if (circuit.failures !== failuresToOpen && !wasTrying) return;
      circuit.pauseMs = Math.min(circuit.pauseMs * 2, longestPauseMs);
      circuit.openUntil = clock.now() + circuit.pauseMs * (1 - clock.random() / 2);
    },
    limits: () =>
      new Map(
        [...circuits]
          .filter(([, circuit]) => isTripped(circuit))
          .map(([id, circuit]) => [id, circuit.isTrying || mayTry(circuit) ? 1 : 0]),
      ),
  };
}
