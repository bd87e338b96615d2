import type { Subject } from "../../eventstore/event.ts";
import type { ForgetLater } from "../../eventstore/seen.ts";
import { enqueue, handle, type JobHandlers, jobKind } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";

const forgetKey = jobKind<Subject>("event.origin_key.forget");

/** Has a key that sealed addresses of nobody who is known destroyed when its time has come (L4). */
export const forgetOriginKeyLater: ForgetLater = ({ instanceId, now, dueAt }, key) =>
  enqueue(forgetKey, { instanceId, id: `${key.type}-key-${key.id}`, now, dueAt }, key);

export const originKeyJobs = ({ events, secrets }: Pick<Deps, "events" | "secrets">): JobHandlers =>
  handle(forgetKey, async (job) => {
    const { instanceId, payload, signal } = job;
    const { type: ownerType, id: ownerId } = payload;
    const by = { editorId: "system:origins", service: "origins", clientId: "", requestId: job.id };
    await events.transact({ ...by, instanceId, signal }, async (tx) => {
      await job.finish(tx);
      tx.write(secrets.removeAllOf({ instanceId, ownerType, ownerId }));
    });
    return "done";
  });
