import { aggregate } from "../../eventstore/aggregate.ts";
import { defineEvents, payload } from "../../eventstore/event.ts";
import type { Sweep } from "../../jobs/sweeper.ts";
import type { Deps } from "../../projection/module.ts";
import { tellNews, user } from "../user/index.ts";
import { lastOwners } from "./owners.ts";

type Warned = { days: number; endsAt: string };

/** That the owners of an instance were told; its id is that of the instance. */
export const ownerWarningEvents = defineEvents(
  "instance",
  { "owners.warned": payload<Warned>() },
  "owner_warning",
);

export const ownerWarning = aggregate(
  ownerWarningEvents,
  undefined as Warned | undefined,
  (_, { payload: warned }): Warned => warned,
);

const dayMs = 24 * 3_600_000;
const warnings = [1, 7, 30];
const everyMs = 3_600_000;
const by = { editorId: "system:owners", service: "owners", clientId: "", requestId: "owners" };

type Parts = Pick<Deps, "db" | "events" | "now" | "newId">;

/**
 * Tells the owners of each instance 30, 7 and 1 days before the last of their credentials ends that it does
 * (J3), each once: whichever replica records it first has them told, in the same unit. Tells how many instances it was.
 */
export async function warnOwners(parts: Parts): Promise<number> {
  const { events, now, newId } = parts;
  let count = 0;
  for await (const { instanceId, owners, end } of lastOwners(parts)) {
    const leftMs = end - now().getTime();
    const days = warnings.find((each) => leftMs <= each * dayMs);
    if (days === undefined || leftMs <= 0) continue;
    const endsAt = new Date(end).toISOString();
    const isNew = await events.transact({ ...by, instanceId }, async (tx) => {
      const loaded = await tx.load(ownerWarning, instanceId);
      const last = loaded.state;
      if (last?.endsAt === endsAt && last.days <= days) return false;
      const warned = ownerWarningEvents["owners.warned"]({ days, endsAt });
      tx.record(ownerWarning, loaded, [warned], { type: "instance", id: instanceId });
      for (const userId of owners) {
        const { state } = await tx.load(user, userId);
        if (state?.schemaType === "machine") continue;
        tellNews(tx, newId, { instanceId, userId }, { news: "owners.ending", endsAt });
      }
      return true;
    });
    if (isNew) count += 1;
  }
  return count;
}

/** Looks once an hour. */
export function sweepOwnerWarnings(parts: Parts): Sweep {
  let next = 0;
  return async () => {
    if (parts.now().getTime() < next) return 0;
    next = parts.now().getTime() + everyMs;
    await warnOwners(parts);
    return 0;
  };
}
