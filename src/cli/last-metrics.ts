import { countersOf } from "../telemetry/merge-metrics.ts";

/**
 * What each worker told of its metrics when it was asked last, by the topic of the question. The counters of one that has ended, or that
 * does not answer, stay as they were then: a sum without them would fall, which Prometheus takes for a start from nought.
 */
export function createLastMetrics() {
  const topics = new Map<string, { told: Map<number, string>; ended: string }>();
  function topicOf(name: string) {
    let topic = topics.get(name);
    if (topic === undefined) topics.set(name, (topic = { told: new Map(), ended: "" }));
    return topic;
  }
  return {
    note: (topic: string, worker: number, text: string): void =>
      void topicOf(topic).told.set(worker, text),
    countersOf: (topic: string, worker: number): string =>
      countersOf([topicOf(topic).told.get(worker) ?? ""]),
    /** The counters of all that have ended. */
    ofEnded: (topic: string): string => topicOf(topic).ended,
    end(worker: number): void {
      for (const topic of topics.values()) {
        topic.ended = countersOf([topic.ended, topic.told.get(worker) ?? ""]);
        topic.told.delete(worker);
      }
    },
  };
}
