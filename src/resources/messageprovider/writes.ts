import { type Scope, writeContext } from "../../authz/context.ts";
import type { ProviderRow } from "./projection.ts";
import { isReusable, logOf, ownerOf, type ProviderStorage, systemLog } from "./storage.ts";
import { providerAggregate, stepDown, type ProviderPatch } from "./provider.ts";
import { providerQueries } from "./queries.ts";
import { providerSecretRef } from "./secret.ts";
import {
  decideOn,
  type Transaction,
  type WriteContext,
  type Written,
} from "../../eventstore/transaction.ts";
import { inheritedReadOnly } from "../object/reuse/context.ts";
import { policyId } from "../object/reuse/policies.ts";
import { createReuse } from "../object/reuse/reuse.ts";
import type { StatePolicy } from "../object/reuse/state.ts";
import { type OwnerRef } from "../../eventstore/event.ts";
import { type ProviderConfig } from "./kind.ts";
import { newSigningKey } from "../object/new-secret.ts";
import { type Deps } from "../../projection/module.ts";
import { allIds } from "../../projection/ids.ts";
import { requireSequence } from "../../eventstore/expected-sequence.ts";

export type ProviderParts = Pick<
  Deps,
  "db" | "events" | "secrets" | "newId" | "limits" | "organizations"
>;

/** What a patch changes; `given` are the names of the fields that only the owner of a provider may set. */
export type WantedPatch<C> = Omit<ProviderPatch<C>, "bringsSecret"> & {
  secret: string | undefined;
  given: readonly string[];
};

/** What the calls of all kinds of providers write. */
export function providerWrites<C extends ProviderConfig>(
  { db, events, secrets }: ProviderParts,
  storage: ProviderStorage<C>,
  queries: ReturnType<typeof providerQueries<C>>,
) {
  const { kind, policies, providers } = storage;
  const aggregate = providerAggregate(kind);
  const reuse = createReuse(db, policies);
  const refOf = (log: string, id: string) => providerSecretRef(kind, log, id);
  const rotate = (tx: Transaction, log: string, id: string) =>
    newSigningKey(tx, secrets, refOf(log, id));
  return { setPolicy, makeOnlyOne, patchInherited, requireKeys, store, rotate };

  async function patchInherited(
    scope: Scope,
    row: ProviderRow<C>,
    context: OwnerRef,
    { given: [first], statePolicy }: WantedPatch<C>,
  ): Promise<Written> {
    if (first !== undefined) throw inheritedReadOnly(`${kind.name}_provider.${first}`);
    if (statePolicy === undefined) {
      const { seen } = await queries.see(row, context);
      requireSequence(scope, seen.sequence);
      return seen;
    }
    const written = await events.transact(writeContext(scope, logOf(context)), async (tx) => {
      if (statePolicy === "activate") await makeOnlyOne(tx, context, row.id);
      return setPolicy(tx, row, context, statePolicy);
    });
    return written();
  }

  function setPolicy(
    tx: Transaction,
    row: ProviderRow<C>,
    context: OwnerRef,
    policy: StatePolicy,
  ): Promise<() => Written> {
    const { id, sequence, changeDate } = row;
    return reuse.setPolicy(tx, { id, sequence, changeDate, owner: ownerOf(row) }, context, policy);
  }

  // What is counted here still holds at the commit: of two that are activated at once the later one stays.
  async function makeOnlyOne(tx: Transaction, context: OwnerRef, id: string): Promise<void> {
    const log = logOf(context);
    const active = { instanceId: log, state: "active" };
    for (const other of await allIds(db, tx, providers, active)) {
      if (other === id) continue;
      await decideOn(tx, aggregate, other, (state) => stepDown(kind, state));
    }
    if (log === systemLog || !isReusable(kind)) return;
    const pinned = { instanceId: log, contextId: context.id, policy: "activate" };
    for (const other of await allIds(db, tx, policies.table, pinned, "resourceId")) {
      if (other === id) continue;
      const own = policyId(other, context.id);
      const decide = (state: StatePolicy) => policies.decide(state, other, "deactivate");
      await decideOn(tx, policies.aggregate, own, decide, context);
    }
  }

  // The system has keys of its own as soon as it has a secret.
  async function requireKeys(at: WriteContext): Promise<void> {
    if (at.instanceId !== systemLog) return;
    await events.transact(at, async (tx) =>
      tx.write(...(await secrets.missingKeys(tx, systemLog))),
    );
  }

  async function store(tx: Transaction, log: string, id: string, secret: string | undefined) {
    if (secret !== undefined) {
      tx.write(await secrets.put(refOf(log, id), Buffer.from(secret), tx.now));
    }
    return {};
  }
}
