import type { Buckets, ShareBuckets } from "../authz/buckets.ts";

/**
 * The processes that serve together (IDSVC_PROCESSES) talk over the one that has started them: what one tells reaches the
 * others, what one asks is answered by each of the others that runs. All of it is lost with a process that ends.
 */
export type FromWorker =
  | { kind: "ready" }
  | { kind: "alive" }
  | { kind: "tell"; topic: string; content: unknown }
  | { kind: "ask"; id: number; topic: string; metrics?: string }
  | { kind: "answer"; id: number; content: unknown };

export type ToWorker =
  | { kind: "told"; topic: string; content: unknown }
  | { kind: "asked"; id: number; topic: string }
  | { kind: "answered"; id: number; answers: Answer[] };

/** The topic under which the process that has started the others answers itself: the names of those that run. */
export const runningProcesses = "running processes";

export type Answer = { worker: number; content: unknown };

export type Siblings = {
  /**
   * The number of this process among those that serve together, from 1; undefined where it serves alone. One that replaces
   * another has the number of the other.
   */
  readonly number: number | undefined;
  /** How many serve together, with this one. */
  readonly count: number;
  /** Tells all others; nothing where it serves alone. */
  tell(topic: string, content: unknown): void;
  /**
   * What the others answer, of those that do within five seconds.
   *
   * @param metrics the own answer to a question for metrics. What those told last that have ended, or do not answer, is then among
   * the answers as far as it counts: of one that runs under its number, of all others under the number 0
   */
  ask(topic: string, metrics?: string): Promise<Answer[]>;
  onTold(topic: string, listener: (content: unknown) => void): void;
  onAsked(topic: string, answer: () => Promise<unknown>): void;
};

export const alone: Siblings = {
  number: undefined,
  count: 1,
  tell: () => {},
  ask: async () => [],
  onTold: () => {},
  onAsked: () => {},
};

/** What carries messages to the process that has started this one, and from it. */
export type Channel = {
  send(message: FromWorker): void;
  onMessage(listener: (message: ToWorker) => void): void;
};

export function siblingsOver(channel: Channel, number: number, count: number): Siblings {
  const listeners = new Map<string, (content: unknown) => void>();
  const answering = new Map<string, () => Promise<unknown>>();
  const waiting = new Map<number, (answers: Answer[]) => void>();
  let lastId = 0;

  async function answer(id: number, topic: string): Promise<void> {
    // Who cannot answer is one of whom nothing is known.
    const content = await answering
      .get(topic)?.()
      .catch(() => undefined);
    channel.send({ kind: "answer", id, content });
  }

  channel.onMessage((message) => {
    if (message.kind === "told") listeners.get(message.topic)?.(message.content);
    else if (message.kind === "asked") void answer(message.id, message.topic);
    else {
      waiting.get(message.id)?.(message.answers);
      waiting.delete(message.id);
    }
  });
  return {
    number,
    count,
    tell: (topic, content) => channel.send({ kind: "tell", topic, content }),
    ask: (topic, metrics) =>
      new Promise((resolve) => {
        lastId += 1;
        waiting.set(lastId, resolve);
        channel.send({
          kind: "ask",
          id: lastId,
          topic,
          ...(metrics === undefined ? {} : { metrics }),
        });
      }),
    onTold: (topic, listener) => void listeners.set(topic, listener),
    onAsked: (topic, listener) => void answering.set(topic, listener),
  };
}

// Until the others know of it, what was taken here can be taken there once more.
const shareMs = 50;

/** Buckets that processes that serve together share: each tells the others what was taken, a twentieth of a second later. */
export function shareBuckets(siblings: Siblings): ShareBuckets {
  if (siblings.number === undefined) return (_, buckets) => buckets;
  const all = new Map<string, Buckets>();
  let taken = new Map<string, Map<string, number>>();
  let timer: NodeJS.Timeout | undefined;

  function send(): void {
    timer = undefined;
    const entries = [...taken].flatMap(([name, keys]) =>
      [...keys].map(([key, count]) => [name, key, count] as const),
    );
    taken = new Map();
    siblings.tell("buckets", entries);
  }

  function note(name: string, key: string, count: number): void {
    let keys = taken.get(name);
    if (keys === undefined) taken.set(name, (keys = new Map()));
    keys.set(key, (keys.get(key) ?? 0) + count);
    timer ??= setTimeout(send, shareMs).unref();
  }

  siblings.onTold("buckets", (content) => {
    for (const [name, key, count] of content as [string, string, number][]) {
      all.get(name)?.takeElsewhere(key, count);
    }
  });
  return (name, buckets) => {
    all.set(name, buckets);
    return {
      ...buckets,
      take(key) {
        const wait = buckets.take(key);
        if (wait === 0) note(name, key, 1);
        return wait;
      },
      giveBack(key) {
        buckets.giveBack(key);
        note(name, key, -1);
      },
    };
  };
}
