import { countersOf } from "../telemetry/merge-metrics.ts";

/**
 * The latest metrics of each worker, by the topic of the question that they answered. The counters of one that has ended, or that
 * does not answer, stay as they were then: a sum without them would fall, which Prometheus takes for a start from nought.
 */
export function createLastMetrics() {
  const topics = new Map<string, { latest: Map<number, string>; ended: string }>();
  function topicOf(name: string) {
    let topic = topics.get(name);
    if (topic === undefined) topics.set(name, (topic = { latest: new Map(), ended: "" }));
    return topic;
  }
  return {
    note: (topic: string, worker: number, text: string): void =>
      void topicOf(topic).latest.set(worker, text),
    ofWorker: (topic: string, worker: number): string =>
      countersOf([topicOf(topic).latest.get(worker) ?? ""]),
    /** The counters of all that have ended. */
    ofEnded: (topic: string): string => topicOf(topic).ended,
    end(worker: number): void {
      for (const topic of topics.values()) {
        topic.ended = countersOf([topic.ended, topic.latest.get(worker) ?? ""]);
        topic.latest.delete(worker);
      }
    },
  };
}
