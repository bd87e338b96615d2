import { editorOf, type Scope } from "../../authz/context.ts";
import { resourceExhausted } from "../../errors.ts";

/** How many may follow logs at once, in this process: of one caller on one instance, and in all. */
export type FollowerLimits = { ofCaller: number; inAll: number };

// A place becomes free when a follower leaves, and nobody knows when that is.
const retryAfterSeconds = 10;

export type Followers = {
  /** What a follower is told, opened at once: who may not follow is refused before their stream begins. */
  admit<M>(scope: Follower, open: () => AsyncIterable<M>): AsyncIterable<M>;
  /** How many there are. */
  count(): number;
};

type Follower = Pick<Scope, "caller" | "instanceId" | "signal">;

/**
 * Bounds the followers of logs, since each costs the event loop a part of every commit.
 *
 * @throws RESOURCE_EXHAUSTED FOLLOWERS_TOO_MANY
 */
export function createFollowers(limits: FollowerLimits): Followers {
  const byCaller = new Map<string, number>();
  let all = 0;

  /** Takes a place until the caller has gone or what is returned is called, whichever is first. */
  function enter({ caller, instanceId, signal }: Follower): () => void {
    const key = `${instanceId}/${editorOf(caller)}`;
    const own = byCaller.get(key) ?? 0;
    if (own >= limits.ofCaller) throw tooMany("caller", limits.ofCaller);
    if (all >= limits.inAll) throw tooMany("service", limits.inAll);
    byCaller.set(key, own + 1);
    all += 1;
    let isOver = false;
    const leave = () => {
      if (isOver) return;
      isOver = true;
      signal?.removeEventListener("abort", leave);
      all -= 1;
      const left = (byCaller.get(key) ?? 0) - 1;
      if (left > 0) byCaller.set(key, left);
      else byCaller.delete(key);
    };
    signal?.addEventListener("abort", leave);
    if (signal?.aborted === true) leave();
    return leave;
  }

  return {
    count: () => all,
    admit(scope, open) {
      const leave = enter(scope);
      return (async function* following() {
        try {
          yield* open();
        } finally {
          leave();
        }
      })();
    },
  };
}

const tooMany = (whose: "caller" | "service", limit: number) =>
  resourceExhausted(
    "FOLLOWERS_TOO_MANY",
    `${limit} streams of events are open ${whose === "caller" ? "for this caller" : "in all"}, which is the most: end one, or try again later`,
    { metadata: { of: whose, limit: String(limit) }, retryAfterSeconds },
  );
