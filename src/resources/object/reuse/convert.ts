import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ParentSchema,
  StatePolicy as PolicyNumber,
} from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import { toDetails, toOwner } from "../details.ts";
import { toState } from "../filters.ts";
import { wordsOf } from "../words.ts";
import type { SeenResource } from "./reuse.ts";
import type { Seen, StatePolicy } from "./state.ts";

const policies = wordsOf(PolicyNumber, "inherit");

/** A policy of a request; one that is not given, or says nothing, inherits. */
export const fromStatePolicy = (policy: PolicyNumber = PolicyNumber.INHERIT): StatePolicy =>
  policies.word(policy);

/** What an answer says of a resource in a context. */
export const toSeen = (seen: SeenResource) => ({
  details: toDetails(seen),
  state: toState(seen.state),
  ...(seen.parent === undefined ? {} : { parent: toParent(seen.parent) }),
});

const toParent = ({
  owner,
  state,
}: NonNullable<Seen["parent"]>): MessageInitShape<typeof ParentSchema> => ({
  parent: toOwner(owner),
  state: toState(state),
});

export const toStatePolicy = (policy: StatePolicy): PolicyNumber => policies.member(policy);
