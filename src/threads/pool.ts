import { basename, extname } from "node:path";
import { Worker } from "node:worker_threads";
import { bareEnv } from "./bare-env.ts";
import { createFairQueue } from "./fair-queue.ts";

/** What a thread answers; an error travels as its text. */
export type ThreadAnswer<R> = { result: R } | { error: string };

export type PoolOptions = {
  /** The file that a thread runs, which gives it its name: it answers each message with a `ThreadAnswer`, in order. */
  script: URL;
  /** What the thread is given at its start. */
  workerData?: unknown;
  threads: number;
  /** How many may wait for a thread; beyond it the source that has most waiting is refused. */
  mostWaiting: number;
  /** How long a thread may work on one task before it is ended; without it for ever. */
  timeoutMs?: number;
  /** How long a thread with nothing to do is kept, with the 5 to 10 MiB that it takes; a minute without. */
  idleMs?: number;
  refusals: {
    /** There was no room to wait. */
    busy(): Error;
    failed(cause: unknown): Error;
    /** It took longer than `timeoutMs`. */
    tooLong?(): Error;
  };
};

export type ThreadPool<W, R> = AsyncDisposable & {
  /**
   * @param source who has it done: sources take turns, so that nobody waits for all that another one wants
   * @throws what `refusals` gives
   */
  run(work: W, source?: string): Promise<R>;
  /** How many wait. */
  waiting(): number;
};

type Task<W, R> = {
  work: W;
  source: string;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
};

type Thread<W, R> = {
  /** What it was given, in order: it works on the first. */
  tasks: Task<W, R>[];
  timer: NodeJS.Timeout | undefined;
};

// A thread holds one task beside the one at work: it goes on while the event loop waits for a flush.
const mostHeld = 2;
const usualIdleMs = 60_000;
const closed = "the pool is closed";

function newWorker({ script, workerData }: Pick<PoolOptions, "script" | "workerData">): Worker {
  const name = basename(script.pathname, extname(script.pathname));
  return new Worker(script, { name, env: bareEnv(), workerData });
}

/** Threads that are started when needed, end when they are not, and keep no process alive. */
export function createThreadPool<W, R>(options: PoolOptions): ThreadPool<W, R> {
  const { refusals, timeoutMs, idleMs = usualIdleMs } = options;
  const threads = new Map<Worker, Thread<W, R>>();
  // What a thread holds beside the task at work waits too.
  const room = Math.max(0, options.mostWaiting - options.threads * (mostHeld - 1));
  const waiting = createFairQueue<Task<W, R>>(room);
  let isClosed = false;

  function start(): [Worker, Thread<W, R>] {
    const worker = newWorker(options);
    const thread: Thread<W, R> = { tasks: [], timer: undefined };
    threads.set(worker, thread);
    worker.on("message", (answer: ThreadAnswer<R>) => {
      const task = thread.tasks.shift();
      watch(worker, thread);
      if (thread.tasks.length === 0) worker.unref();
      if ("result" in answer) task?.resolve(answer.result);
      else task?.reject(refusals.failed(answer.error));
      next();
    });
    const gone = (cause: unknown) => retire(worker, refusals.failed(cause));
    worker.on("error", gone);
    worker.on("exit", gone);
    return [worker, thread];
  }

  /** Takes a thread out of use: the task at work ends so, the others wait again. */
  function retire(worker: Worker, why: Error): void {
    const thread = threads.get(worker);
    if (thread === undefined) return;
    threads.delete(worker);
    clearTimeout(thread.timer);
    if (isClosed) return thread.tasks.forEach(({ reject }) => reject(why));
    const [atWork, ...others] = thread.tasks;
    atWork?.reject(why);
    for (const task of others.toReversed()) waiting.putBack(task.source, [task]);
    next();
  }

  /** The time of the task at work begins, or where there is none the time without one, at whose end the thread is ended. */
  function watch(worker: Worker, thread: Thread<W, R>): void {
    clearTimeout(thread.timer);
    const ms = thread.tasks.length === 0 ? idleMs : timeoutMs;
    if (ms === undefined) return;
    thread.timer = setTimeout(() => {
      void worker.terminate();
      retire(worker, (refusals.tooLong ?? refusals.busy)());
    }, ms).unref();
  }

  /** The thread that has least to do; a new one rather than one that is at work. */
  function vacant(): [Worker, Thread<W, R>] | undefined {
    const [least] = [...threads].toSorted(([, a], [, b]) => a.tasks.length - b.tasks.length);
    const isFree = least?.[1].tasks.length === 0;
    if (least === undefined || (!isFree && threads.size < options.threads)) return start();
    return least[1].tasks.length < mostHeld ? least : undefined;
  }

  function next(): void {
    while (waiting.size > 0) {
      const free = vacant();
      const task = free && waiting.take()?.item;
      if (free === undefined || task === undefined) return;
      give(free, task);
    }
  }

  function give([worker, thread]: [Worker, Thread<W, R>], task: Task<W, R>): void {
    thread.tasks.push(task);
    if (thread.tasks.length === 1) watch(worker, thread);
    worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window: it has no origin.
    worker.postMessage(task.work);
  }

  return {
    run: (work, source = "") =>
      new Promise<R>((resolve, reject) => {
        const task = { work, source, resolve, reject };
        const free = waiting.size === 0 && !isClosed ? vacant() : undefined;
        if (free !== undefined) give(free, task);
        else if (isClosed) reject(refusals.failed(closed));
        else waiting.add(source, task)?.reject(refusals.busy());
      }),
    waiting: () => waiting.size,
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const { reject } of waiting.clear()) reject(refusals.failed(closed));
      await Promise.all([...threads.keys()].map((worker) => worker.terminate()));
    },
  };
}
