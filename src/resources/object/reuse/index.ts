export {
  actingContext,
  inheritedNotDeletable,
  inheritedReadOnly,
  inherits,
  resourceScopeOf,
  requireIn,
} from "./context.ts";
export { fromStatePolicy, toSeen, toStatePolicy } from "./convert.ts";
export { defineStatePolicies, policyId, type StatePolicies } from "./policies.ts";
export { createReuse, type Reusable, type SeenResource } from "./reuse.ts";
export { effectiveState, type EffectiveState, type StatePolicy } from "./state.ts";
