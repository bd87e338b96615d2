import { type Scope, writeContext } from "../../authz/context.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import { requireSequence } from "../../eventstore/expected-sequence.ts";
import type { Transaction, WriteContext, Written } from "../../eventstore/transaction.ts";
import { allIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { newSigningKey } from "../object/signing-key.ts";
import {
  createReuse,
  inheritedNotDeletable,
  inheritedReadOnly,
  inherits,
  policyId,
  type StatePolicy,
} from "../reuse/index.ts";
import type { ProviderFacts } from "./events.ts";
import { type ProviderConfig, providerFixed } from "./kind.ts";
import { isReusable, logOf, ownerOf, type ProviderStorage, systemLog } from "./storage.ts";
import type { ProviderRow } from "./projection.ts";
import {
  createProvider,
  patchProvider,
  providerAggregate,
  type ProviderPatch,
  removeProvider,
  requireOtherState,
  stepDown,
  turnProvider,
} from "./provider.ts";
import { providerQueries } from "./queries.ts";
import { isSigned, providerSecretRef } from "./secret.ts";
import { contextInvalid } from "../../authz/tenancy.ts";

export type ProviderParts = Pick<Deps, "db" | "events" | "secrets" | "newId" | "limits">;

/** What a patch changes; `given` are the names of the fields that only the owner of a provider may set. */
export type WantedPatch<C> = Omit<ProviderPatch<C>, "bringsSecret"> & {
  secret: string | undefined;
  given: readonly string[];
};

type WithKey = { written: Written; signingKey?: string };

/** What the services of all kinds of providers do: at most one provider of a kind is active in a context. */
export function providerCalls<C extends ProviderConfig>(
  parts: ProviderParts,
  storage: ProviderStorage<C>,
) {
  const { db, events, newId, secrets } = parts;
  const { kind, policies, providers } = storage;
  const aggregate = providerAggregate(kind);
  const queries = providerQueries(parts, storage);
  const reuse = createReuse(db, policies);
  const refOf = (log: string, id: string) => providerSecretRef(kind, log, id);

  return {
    queries,
    /** The context that is named for a new provider, or for a search. */
    contextNamed,

    async create(
      scope: Scope,
      facts: ProviderFacts<C>,
      secret: string | undefined,
    ): Promise<WithKey> {
      const owner = contextNamed(scope);
      const at = writeContext(scope, logOf(owner));
      await requireKeys(at);
      return finish(
        await events.transact(at, async (tx) => {
          const loaded = tx.begin(aggregate, newId());
          const level = owner.type === "system" ? "system" : "instance";
          const hasSecret = secret !== undefined;
          tx.record(aggregate, loaded, createProvider(kind, level, { ...facts, hasSecret }), owner);
          if (facts.statePolicy !== "deactivate") await makeOnlyOne(tx, owner, loaded.id);
          const key = isSigned(facts.config)
            ? await rotate(tx, at.instanceId, loaded.id)
            : await store(tx, at.instanceId, loaded.id, secret);
          return { written: tx.written(loaded), ...key };
        }),
      );
    },

    async patch(scope: Scope, id: string, wanted: WantedPatch<C>): Promise<WithKey> {
      const row = await queries.find(scope, id);
      const context = queries.contextOf(scope, row);
      if (inherits(context, ownerOf(row))) {
        return { written: await patchInherited(scope, row, context, wanted) };
      }
      const { given: _, secret, ...patch } = wanted;
      const at = writeContext(scope, row.instanceId);
      return finish(
        await events.transact(at, async (tx) => {
          const loaded = await tx.load(aggregate, id);
          const before = loaded.state;
          const bringsSecret = secret !== undefined;
          const happened = patchProvider(kind, before, { ...patch, bringsSecret });
          if (patch.rotatesSigningKey && before !== undefined && !isSigned(before.config)) {
            throw providerFixed(kind, "signing key");
          }
          tx.record(aggregate, loaded, happened);
          const after = loaded.state;
          if (isActive(after?.statePolicy) && !isActive(before?.statePolicy)) {
            await makeOnlyOne(tx, context, id);
          }
          if (before?.hasSecret && !after?.hasSecret)
            tx.write(secrets.remove(refOf(at.instanceId, id)));
          await store(tx, at.instanceId, id, secret);
          const key = patch.rotatesSigningKey ? await rotate(tx, at.instanceId, id) : {};
          return { written: tx.written(loaded), ...key };
        }),
      );
    },

    async turn(scope: Scope, id: string, wanted: "activate" | "deactivate"): Promise<Written> {
      const row = await queries.find(scope, id);
      const context = queries.contextOf(scope, row);
      const written = await events.transact(writeContext(scope, logOf(context)), async (tx) => {
        const { seen } = await queries.see(row, context);
        requireOtherState(kind, seen.state === "active", wanted);
        if (wanted === "activate") await makeOnlyOne(tx, context, id);
        if (seen.parent !== undefined) return setPolicy(tx, row, context, wanted);
        const loaded = await tx.load(aggregate, id);
        tx.record(aggregate, loaded, turnProvider(kind, loaded.state, wanted));
        return tx.written(loaded);
      });
      return written();
    },

    async remove(scope: Scope, id: string): Promise<Written> {
      const row = await queries.find(scope, id);
      const context = queries.contextOf(scope, row);
      if (inherits(context, ownerOf(row))) throw inheritedNotDeletable();
      const at = writeContext(scope, row.instanceId);
      const written = await events.transact(at, async (tx) => {
        const loaded = await tx.load(aggregate, id);
        tx.record(aggregate, loaded, removeProvider(kind, loaded.state));
        const owner = { instanceId: row.instanceId, ownerType: kind.name, ownerId: id };
        tx.write(secrets.removeAllOf(owner));
        return tx.written(loaded);
      });
      return written();
    },
  };

  function contextNamed({ context, instanceId }: Scope): OwnerRef {
    if (context.type === "organization") {
      throw contextInvalid(
        "an organization has none of these: leave out ctx and the header x-idsvc-orgid for those of the instance",
      );
    }
    return context.type === "system"
      ? { type: "system", id: "" }
      : { type: "instance", id: instanceId };
  }

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
      const loaded = await tx.load(aggregate, other);
      tx.record(aggregate, loaded, stepDown(kind, loaded.state));
    }
    if (log === systemLog || !isReusable(kind)) return;
    const pinned = { instanceId: log, contextId: context.id, policy: "activate" };
    for (const other of await allIds(db, tx, policies.table, pinned, "resourceId")) {
      if (other === id) continue;
      const loaded = await tx.load(policies.aggregate, policyId(other, context.id));
      const happened = policies.decide(loaded.state, other, "deactivate");
      tx.record(policies.aggregate, loaded, happened, context);
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

  async function rotate(tx: Transaction, log: string, id: string): Promise<{ signingKey: string }> {
    const { change, signingKey } = await newSigningKey(secrets, refOf(log, id), tx.now);
    tx.write(change);
    return { signingKey };
  }
}

const isActive = (policy: StatePolicy | undefined): boolean =>
  policy !== undefined && policy !== "deactivate";

const finish = ({ written, ...key }: { written: () => Written; signingKey?: string }): WithKey => ({
  written: written(),
  ...key,
});
