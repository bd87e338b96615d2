import type { Awaitable } from "../../awaitable.ts";
import { newSigningKey, type SigningKeyConfig } from "../../crypto/signing-key.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { allIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { asc, gt } from "../../storage/drizzle.ts";
import { type Held, holdLease } from "../../storage/lease.ts";
import { instances } from "../instance/index.ts";
import { addFirstWebKey, newDefaultWebKey, webKeyChanges } from "./keys.ts";
import { webKeys } from "./web-key.ts";
import { chosen, keysOf, type WebKeyRow } from "./reader.ts";

const hourMs = 3_600_000;

/** How the keys of an instance rotate, in milliseconds. */
export type RotationTimes = {
  /** How long a key signs. */
  periodMs: number;
  /** How long what it signed may be valid: the longest life of an access or ID token. */
  tokenLifeMs: number;
};

/** The built-in values of the OIDC settings `key_rotation_period`, `access_token_lifetime` and `id_token_lifetime`. */
export const usualTimes: RotationTimes = { periodMs: 720 * hourMs, tokenLifeMs: 12 * hourMs };

/** A key is published for so long before it signs: whoever fetches keys once a day knows it by then. */
export const publishedAheadMs = 24 * hourMs;
/** Clocks of replicas and of those who verify may be off by a part of it. */
const graceMs = hourMs;

export type RotationStep =
  | { do: "start" }
  | { do: "publish"; config: SigningKeyConfig }
  | { do: "activate"; id: string }
  | { do: "remove"; id: string };

/**
 * What is due among the keys of one instance.
 *
 * The next key is a published one of the same kind as the active one: made here, or by somebody who wanted it so. What
 * signs for apps that ask for another algorithm is not removed.
 */
export function rotationSteps(
  keys: readonly WebKeyRow[],
  { periodMs, tokenLifeMs }: RotationTimes,
  now: Date,
): RotationStep[] {
  const at = now.getTime();
  const active = keys.find(({ state }) => state === "active");
  if (active === undefined) return [{ do: "start" }];
  const steps: RotationStep[] = [];

  const dueAt = active.changeDate.getTime() + periodMs;
  const kind = JSON.stringify(active.config);
  const next = keys.find((key) => key.state === "initial" && JSON.stringify(key.config) === kind);
  if (next === undefined) {
    if (at >= dueAt - publishedAheadMs) steps.push({ do: "publish", config: active.config });
  } else if (at >= dueAt && at >= next.creationDate.getTime() + publishedAheadMs) {
    steps.push({ do: "activate", id: next.id });
  }

  for (const key of keys) {
    const isOver = at >= key.changeDate.getTime() + tokenLifeMs + graceMs;
    if (key.state !== "inactive" || !isOver) continue;
    const isAskedFor = key.alg !== active.alg && chosen(keys, key.alg)?.id === key.id;
    if (!isAskedFor) steps.push({ do: "remove", id: key.id });
  }
  return steps;
}

/** How the keys of an instance rotate. */
export type TimesOf = (instanceId: string) => Awaitable<RotationTimes>;

const pageSize = 200;
const leaseLifeMs = 600_000;
const origin = "web_key_rotation";

/** Does what is due among the keys of all instances, one after the other. An instance that fails holds up no other. */
export async function rotateWebKeys(
  deps: Deps,
  timesOf: TimesOf,
  by: { held: () => Held | undefined; onError: (error: unknown) => void },
): Promise<void> {
  const { db } = deps;
  const i = db.table(instances);
  for (let after = ""; ; ) {
    const page = await db.read
      .select({ id: i.id })
      .from(i)
      .where(gt(i.id, after))
      .orderBy(asc(i.id))
      .limit(pageSize);
    const ids = page.map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
    const byInstance = Map.groupBy(await keysOf(db, ...ids), ({ instanceId }) => instanceId);
    for (const id of ids) {
      const held = by.held();
      if (held === undefined) return;
      try {
        const keys = byInstance.get(id) ?? [];
        const steps = rotationSteps(keys, await timesOf(id), deps.now());
        for (const step of steps) await take(deps, held, id, step);
      } catch (error) {
        by.onError(error);
      }
    }
  }
}

async function take(deps: Deps, held: Held, instanceId: string, step: RotationStep): Promise<void> {
  const changes = webKeyChanges(deps);
  // Made before the unit, which may be decided several times.
  const decide = await decisionOf(deps, changes, instanceId, step);
  const at = { instanceId, editorId: origin, service: origin, clientId: "", requestId: origin };
  await deps.events.transact(at, async (tx) => {
    // Only the holder writes, and only to an instance that lives.
    const { table, where, count } = held.fence;
    tx.expectRows(table, where, count);
    tx.expectRows(instances, { id: instanceId }, 1);
    await decide(tx);
  });
}

async function decisionOf(
  deps: Deps,
  changes: ReturnType<typeof webKeyChanges>,
  instanceId: string,
  step: RotationStep,
): Promise<(tx: Transaction) => Promise<unknown>> {
  switch (step.do) {
    case "start": {
      const made = await newDefaultWebKey();
      return async (tx) => {
        const active = await allIds(deps.db, tx, webKeys.table, { instanceId, state: "active" });
        if (active.length === 0) await addFirstWebKey(deps, tx, instanceId, made);
      };
    }
    case "publish": {
      const made = await newSigningKey(step.config);
      return (tx) => changes.add(tx, instanceId, made);
    }
    case "activate":
      return (tx) => changes.activate(tx, instanceId, step.id);
    case "remove":
      return (tx) => changes.remove(tx, instanceId, step.id);
  }
}

/** Rotates the keys of all instances, now and again every minute, while it is this process that does so. */
export function startRotation(
  deps: Deps,
  timesOf: TimesOf,
  { onError, everyMs = 60_000 }: { onError: (error: unknown) => void; everyMs?: number },
): AsyncDisposable {
  let passing: Promise<void> | undefined;
  let stopped = false;
  const pass = (): void => {
    if (lease.held() === undefined) return;
    const held = () => (stopped ? undefined : lease.held());
    passing ??= rotateWebKeys(deps, timesOf, { held, onError })
      .catch(onError)
      .finally(() => (passing = undefined));
  };
  // Rotation is in no hurry: a long life spares the disk of an idle service.
  const lease = holdLease({
    db: deps.db,
    name: origin,
    lifeMs: leaseLifeMs,
    onGained: () => setImmediate(pass),
    onError,
  });
  lease.renew().catch(onError);
  const timer = setInterval(pass, everyMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      clearInterval(timer);
      await passing;
      await lease[Symbol.asyncDispose]();
    },
  };
}
