// Run: shared, store
import assert from "node:assert/strict";
import { after, it } from "node:test";
import {
  asyncProperty,
  assert as holds,
  array,
  constantFrom,
  nat,
  oneof,
  record,
} from "fast-check";
import { idpReader } from "../../../src/resources/idp/index.ts";
import { featureReader } from "../../../src/settings/feature/index.ts";
import { bodyOf } from "../../support/peer.ts";
import { roundsOf } from "../../support/rounds.ts";
import { inContext, startIdpPeer } from "./idp-peer.ts";

const service = await startIdpPeer();
const { addIdp, addOrganization, deps, idpOf, instanceId, remove, search, setPolicy } = service;
after(() => service[Symbol.asyncDispose]());
const reader = idpReader(
  deps.db,
  featureReader(deps.db, {
    multitenancy_resources_api: true,
    multitenancy_settings: true,
    oidc_token_exchange: true,
  }),
);

type Policy = "INHERIT" | "ACTIVATE" | "DEACTIVATE";
/** A context: an organization, or undefined for the instance. */
type Context = string | undefined;
type Provider = { id: string; owner: Context; policies: Map<Context, Policy> };

/** The reference (E2): the state of a provider in a context, from the policies that were set. */
function isActive({ owner, policies }: Provider, context: Context): boolean {
  const policy = policies.get(context) ?? "INHERIT";
  if (policy !== "INHERIT") return policy === "ACTIVATE";
  return context === owner || isActive({ id: "", owner, policies }, owner);
}

const has = ({ owner }: Provider, context: Context) => owner === undefined || owner === context;

// Numbers choose among what is there when their turn comes.
const policy = constantFrom<Policy>("INHERIT", "ACTIVATE", "DEACTIVATE");
const operation = oneof(
  { weight: 4, arbitrary: record({ kind: constantFrom("add" as const), at: nat(9), policy }) },
  {
    weight: 12,
    arbitrary: record({ kind: constantFrom("decide" as const), which: nat(9), at: nat(9), policy }),
  },
  { weight: 1, arbitrary: record({ kind: constantFrom("delete" as const), which: nat(9) }) },
  { weight: 1, arbitrary: record({ kind: constantFrom("organization" as const) }) },
  { weight: 1, arbitrary: record({ kind: constantFrom("leave" as const), at: nat(9) }) },
);

const chosen = <T>(all: readonly T[], number: number): T | undefined => all[number % all.length];
const stateOf = (active: boolean) => `EFFECTIVE_STATE_${active ? "ACTIVE" : "INACTIVE"}`;
const owner = (context: Context) =>
  context === undefined ? service.instance : { type: "OWNER_TYPE_ORG", id: context };

it("every context sees every provider as the policies say, after whatever was done (E2, E4, D63)", () =>
  holds(
    asyncProperty(array(operation, { minLength: 15, maxLength: 30 }), async (operations) => {
      const organizations = [await addOrganization(), await addOrganization()];
      let providers: Provider[] = [];
      for (const step of operations) {
        const contexts: Context[] = [undefined, ...organizations];
        const provider = "which" in step ? chosen(providers, step.which) : undefined;
        switch (step.kind) {
          case "add": {
            const context = chosen(contexts, step.at);
            const state_policy = `STATE_POLICY_${step.policy}`;
            const id = await addIdp(context, { state_policy });
            providers.push({ id, owner: context, policies: new Map([[context, step.policy]]) });
            break;
          }
          case "decide": {
            const context = chosen(contexts, step.at);
            if (provider === undefined || !has(provider, context)) break;
            bodyOf(await setPolicy(provider.id, step.policy, context));
            provider.policies.set(context, step.policy);
            break;
          }
          case "delete":
            if (provider === undefined) break;
            bodyOf(await remove(`/idps/${provider.id}`));
            providers = providers.filter((each) => each !== provider);
            break;
          case "organization":
            organizations.push(await addOrganization());
            break;
          case "leave": {
            const gone = chosen(organizations, step.at);
            if (gone === undefined) break;
            bodyOf(await remove(`/organizations/${gone}`));
            organizations.splice(organizations.indexOf(gone), 1);
            providers = providers.filter((each) => each.owner !== gone);
          }
        }
      }
      for (const context of [undefined, ...organizations]) await assertSeen(providers, context);
      for (const { id } of providers) bodyOf(await remove(`/idps/${id}`));
    }),
    { numRuns: roundsOf(8) },
  ));

async function assertSeen(providers: readonly Provider[], context: Context): Promise<void> {
  await deps.db.catchUp();
  const query = `${context === undefined ? "?" : `${inContext(context)}&`}query.limit=1000&query.asc=true`;
  const there = providers.filter((each) => has(each, context));
  // From the instance one looks down: each provider is seen as its owner sees it.
  const found = context === undefined ? providers : there;
  const expected = found.map((each) => {
    const from = context ?? each.owner;
    const above = { parent: owner(each.owner), state: stateOf(isActive(each, each.owner)) };
    return {
      id: each.id,
      owner: owner(each.owner),
      state: stateOf(isActive(each, from)),
      policy: `STATE_POLICY_${each.policies.get(from) ?? "INHERIT"}`,
      parent: from === each.owner ? undefined : above,
    };
  });
  assert.deepEqual((await search([], query)).result.map(summary), expected, `search in ${context}`);
  const active = expected.filter(({ state }) => state === stateOf(true)).map(({ id }) => id);
  const byState = await search([{ state: { state: stateOf(true) } }], query);
  assert.deepEqual(
    byState.result.map(summary).map(({ id }: { id: string }) => id),
    active,
  );
  for (const [at, { id }] of found.entries()) {
    assert.deepEqual(summary(await idpOf(id, context)), expected[at], `get in ${context}`);
  }
  const offered = there.filter((each) => isActive(each, context)).map(({ id }) => id);
  const listed = (await reader.list(instanceId, context)).map(({ id }) => id);
  assert.deepEqual(listed.toSorted(), offered.toSorted(), `at the login of ${context}`);
}

// What was answered has the members that the schema says.
// oxlint-disable-next-line no-explicit-any
function summary(seen: any) {
  const { id, resource_owner } = seen.details;
  const { state, parent } = seen;
  const { state_policy: told } = seen.idp.idp ?? seen.idp;
  return { id, owner: resource_owner, state, policy: told, parent };
}
