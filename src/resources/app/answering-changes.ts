import type { Scope } from "../../authz/context.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { current } from "../../storage/read-cache.ts";
import { afterAnswersChanged, requireCoversApp } from "./api-access.ts";
import { app, type App, type AppEvent } from "./application.ts";
import { legacyAccessReader } from "./readers.ts";

/** What of a caller decides what they may change of an app that has access to our own APIs. */
export function standingReader(db: Database) {
  const isLegacyApp = current(db, legacyAccessReader(db));
  return async ({ instanceId, permissions, caller }: Scope, clientId: string) => ({
    permissions,
    caller,
    isLegacy: await isLegacyApp(instanceId, clientId),
  });
}

type State = App | undefined;

/**
 * Changes what answers for an app beside its configuration, a secret or a key, with what that brings with it.
 *
 * @param change says whether something new answers for the app, beside what did or in its place
 * @throws PERMISSION_DENIED APP_OUTRANKS_CALLER
 */
export function answeringChanges(db: Database) {
  const standing = standingReader(db);
  return async (
    tx: Transaction,
    scope: Scope,
    id: string,
    decide: (state: State) => AppEvent[],
    change: (before: State) => { isNew: boolean; staysBeside: boolean },
  ): Promise<Loaded<State>> => {
    const loaded = await tx.load(app, id);
    requireCoversApp(loaded.state, scope);
    const kind = change(loaded.state);
    tx.record(app, loaded, decide(loaded.state));
    const by = await standing(scope, loaded.state?.clientId ?? "");
    tx.record(app, loaded, afterAnswersChanged(loaded.state, kind, by));
    return loaded;
  };
}
