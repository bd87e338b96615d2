import { type Scope, writeContext } from "../../authz/context.ts";
import { decideOn } from "../../eventstore/transaction.ts";
import { inheritedNotDeletable, inherits } from "../object/reuse/context.ts";
import type { StatePolicy } from "../object/reuse/state.ts";
import type { ProviderFacts } from "./events.ts";
import { type ProviderConfig, providerFixed } from "./kind.ts";
import { logOf, ownerOf, type ProviderStorage } from "./storage.ts";
import {
  createProvider,
  patchProvider,
  providerAggregate,
  removeProvider,
  requireOtherState,
  turnProvider,
} from "./provider.ts";
import { toDetails } from "../object/details.ts";
import { answering } from "../object/plain.ts";
import { contextNamed, providerQueries, type SeenProvider } from "./queries.ts";
import { isSigned, providerSecretRef } from "./secret.ts";
import { providerWrites, type ProviderParts, type WantedPatch } from "./writes.ts";

type Named = { id: string };

/** What the services of all kinds of providers do: at most one provider of a kind is active in a context. */
export function providerCalls<C extends ProviderConfig>(
  parts: ProviderParts,
  storage: ProviderStorage<C>,
) {
  const { secrets } = parts;
  const answer = answering(parts);
  const { kind } = storage;
  const aggregate = providerAggregate(kind);
  const queries = providerQueries(parts, storage);
  const writes = providerWrites(parts, storage, queries);
  const { setPolicy, makeOnlyOne } = writes;

  return {
    queries,
    ...createAndPatch(parts, storage, queries, writes),

    async get({ id }: Named, scope: Scope): Promise<SeenProvider<C>> {
      const row = await queries.find(scope, id);
      return queries.see(row, queries.contextOf(scope, row));
    },

    turn:
      (wanted: "activate" | "deactivate") =>
      async ({ id }: Named, scope: Scope) => {
        const row = await queries.find(scope, id);
        const context = queries.contextOf(scope, row);
        return answer(writeContext(scope, logOf(context)), async (tx) => {
          const { seen } = await queries.see(row, context);
          requireOtherState(kind, seen.state === "active", wanted);
          if (wanted === "activate") await makeOnlyOne(tx, context, id);
          if (seen.parent !== undefined) {
            return { written: await setPolicy(tx, row, context, wanted) };
          }
          const turned = await decideOn(tx, aggregate, id, (state) =>
            turnProvider(kind, state, wanted),
          );
          return { written: tx.written(turned) };
        });
      },

    async remove({ id }: Named, scope: Scope) {
      const row = await queries.find(scope, id);
      const context = queries.contextOf(scope, row);
      if (inherits(context, ownerOf(row))) throw inheritedNotDeletable();
      const at = writeContext(scope, row.instanceId);
      return answer(at, async (tx) => {
        const removed = await decideOn(tx, aggregate, id, (state) => removeProvider(kind, state));
        const owner = { instanceId: row.instanceId, ownerType: kind.name, ownerId: id };
        tx.write(secrets.removeAllOf(owner));
        return { written: tx.written(removed) };
      });
    },
  };
}

/** Making a provider and changing it, with the secret that it may bring. */
function createAndPatch<C extends ProviderConfig>(
  parts: ProviderParts,
  { kind }: ProviderStorage<C>,
  queries: ReturnType<typeof providerQueries<C>>,
  { makeOnlyOne, patchInherited, requireKeys, store, rotate }: ReturnType<typeof providerWrites<C>>,
) {
  const { newId, secrets } = parts;
  const aggregate = providerAggregate(kind);
  const answer = answering(parts);

  return {
    async create(scope: Scope, facts: ProviderFacts<C>, secret: string | undefined) {
      const owner = contextNamed(scope);
      const at = writeContext(scope, logOf(owner));
      await requireKeys(at);
      return answer(at, async (tx) => {
        const loaded = tx.begin(aggregate, newId());
        const level = owner.type === "system" ? "system" : "instance";
        const hasSecret = secret !== undefined;
        tx.record(aggregate, loaded, createProvider(kind, level, { ...facts, hasSecret }), owner);
        if (facts.statePolicy !== "deactivate") await makeOnlyOne(tx, owner, loaded.id);
        const key = isSigned(facts.config)
          ? await rotate(tx, at.instanceId, loaded.id)
          : await store(tx, at.instanceId, loaded.id, secret);
        return { written: tx.written(loaded), ...key };
      });
    },

    async patch(scope: Scope, id: string, wanted: WantedPatch<C>) {
      const row = await queries.find(scope, id);
      const context = queries.contextOf(scope, row);
      if (inherits(context, ownerOf(row))) {
        return { details: toDetails(await patchInherited(scope, row, context, wanted)) };
      }
      const { given: _, secret, ...patch } = wanted;
      const at = writeContext(scope, row.instanceId);
      return answer(at, async (tx) => {
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
          tx.write(secrets.remove(providerSecretRef(kind, at.instanceId, id)));
        await store(tx, at.instanceId, id, secret);
        const key = patch.rotatesSigningKey ? await rotate(tx, at.instanceId, id) : {};
        return { written: tx.written(loaded), ...key };
      });
    },
  };
}

const isActive = (policy: StatePolicy | undefined): boolean =>
  policy !== undefined && policy !== "deactivate";
