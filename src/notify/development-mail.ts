import type { Message } from "./provider.ts";

export type SentMessage = Message & { sentAt: Date };

/** The last messages of each instance, kept in memory: what stands in them opens accounts, so it is never on disk. */
export type DevelopmentMail = {
  take(message: Message): Promise<void>;
  of(instanceId: string): readonly SentMessage[];
};

const most = 50;

/** Stands in for a mail provider on a developer's machine: its page shows what would have been sent. */
export function createDevelopmentMail(now: () => Date): DevelopmentMail {
  const byInstance = new Map<string, SentMessage[]>();
  const of = (instanceId: string) => byInstance.get(instanceId) ?? [];
  return {
    async take(message) {
      const all = [{ ...message, sentAt: now() }, ...of(message.instanceId)].slice(0, most);
      byInstance.set(message.instanceId, all);
    },
    of,
  };
}
