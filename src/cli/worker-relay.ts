import { type Answer, type FromWorker, runningProcesses, type ToWorker } from "../app/siblings.ts";
import { createLastMetrics } from "./last-metrics.ts";

type Member = {
  number: number;
  processName: string;
  isReady: boolean;
  send: (message: ToWorker) => void;
};
type Asking = Extract<FromWorker, { kind: "ask" }>;
type Question = {
  asker: number;
  id: number;
  topic: string;
  /** Whether the answers are metrics. */
  isOfMetrics: boolean;
  missing: Set<number>;
  answers: Answer[];
  end: () => void;
};

/** A scrape of the metrics usually has ten seconds. */
const answerMs = 5_000;

/**
 * Brings what workers say to the others, and the answers back (siblings.ts).
 *
 * @param members those that have been started and have not ended
 */
export function createRelay(members: () => Member[]) {
  const open = new Map<number, Question>();
  const lastMetrics = createLastMetrics();
  let lastId = 0;

  const memberOf = (number: number) => members().find((each) => each.number === number);
  const others = (number: number) =>
    members().filter((each) => each.isReady && each.number !== number);

  function ask(asker: number, { id, topic, metrics }: Asking): void {
    if (topic === runningProcesses) return tellRunning(asker, id);
    const asked = others(asker);
    const own = (lastId += 1);
    const timer = setTimeout(() => question.end(), answerMs);
    const question: Question = {
      asker,
      id,
      topic,
      isOfMetrics: metrics !== undefined,
      answers: metrics === undefined ? [] : [{ worker: 0, content: lastMetrics.ofEnded(topic) }],
      missing: new Set(asked.map(({ number }) => number)),
      end() {
        clearTimeout(timer);
        if (!open.delete(own)) return;
        for (const worker of question.missing) tellLast(question, worker);
        memberOf(asker)?.send({ kind: "answered", id, answers: question.answers });
      },
    };
    open.set(own, question);
    if (metrics !== undefined) lastMetrics.note(topic, asker, metrics);
    for (const each of asked) each.send({ kind: "asked", id: own, topic });
    if (asked.length === 0) question.end();
  }

  function tellLast({ isOfMetrics, topic, answers }: Question, worker: number): void {
    if (isOfMetrics) answers.push({ worker, content: lastMetrics.ofWorker(topic, worker) });
  }

  // Asked also by one that does not serve yet.
  function tellRunning(asker: number, id: number): void {
    const answers = members().map((each) => ({ worker: each.number, content: each.processName }));
    memberOf(asker)?.send({ kind: "answered", id, answers });
  }

  function answer(number: number, id: number, content: unknown): void {
    const question = open.get(id);
    if (!question?.missing.delete(number)) return;
    const { isOfMetrics, topic } = question;
    if (isOfMetrics && typeof content === "string") lastMetrics.note(topic, number, content);
    if (isOfMetrics && content === undefined) tellLast(question, number);
    else question.answers.push({ worker: number, content });
    if (question.missing.size === 0) question.end();
  }

  return {
    hear(from: number, message: FromWorker): void {
      if (message.kind === "ask") ask(from, message);
      else if (message.kind === "answer") answer(from, message.id, message.content);
      else if (message.kind === "tell") {
        const { topic, content } = message;
        for (const each of others(from)) each.send({ kind: "told", topic, content });
      }
    },
    /** A worker has ended: nobody waits for its answers. */
    forget(number: number): void {
      for (const question of open.values()) {
        if (!question.missing.delete(number)) continue;
        tellLast(question, number);
        if (question.missing.size === 0) question.end();
      }
      lastMetrics.end(number);
    },
  };
}
