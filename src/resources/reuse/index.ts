export { defineStatePolicies, policyId, type StatePolicies } from "./policies.ts";
export {
  type Decided,
  effectiveState,
  type EffectiveState,
  type Seen,
  seenAtEnd,
  type StatePolicy,
} from "./state.ts";
