import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { OwnerType } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import type {
  DetailsSchema,
  ListDetailsSchema,
} from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Written } from "../../eventstore/transaction.ts";
import type { Found } from "../../projection/search.ts";

const ownerTypes = {
  system: OwnerType.SYSTEM,
  instance: OwnerType.INSTANCE,
  org: OwnerType.ORG,
};

/** A context as the API names it. */
export const toOwner = ({ type, id }: OwnerRef) => ({ type: ownerTypes[type], id });

/** Whom an object belongs to whose row has an empty `organizationId` where it is the instance's. */
export const ownerWithin = (instanceId: string, organizationId: string): OwnerRef =>
  organizationId === ""
    ? { type: "instance", id: instanceId }
    : { type: "org", id: organizationId };

/** The Details of an object: its last event and the context it belongs to (specification 2.1). */
export const toDetails = ({
  id,
  sequence,
  changeDate,
  owner,
}: Written): MessageInitShape<typeof DetailsSchema> => ({
  id,
  sequence,
  changeDate: timestampFromDate(changeDate),
  resourceOwner: toOwner(owner),
});

type OwnedRow = Omit<Written, "owner">;

/** The Details of an object that an instance owns, from its row. */
export const toInstanceOwnedDetails = (row: OwnedRow & { instanceId: string }) =>
  toDetails({ ...row, owner: { type: "instance", id: row.instanceId } });

/** The Details of an object that an organization owns, from its row. */
export const toOrganizationOwnedDetails = (row: OwnedRow & { organizationId: string }) =>
  toDetails({ ...row, owner: { type: "org", id: row.organizationId } });

/** What a search says of its result; sequence and time are the head of the log that it saw (C2). */
export const toListDetails = (
  found: Found<unknown>,
): MessageInitShape<typeof ListDetailsSchema> => ({
  appliedLimit: found.appliedLimit,
  endOfList: found.endOfList,
  totalResult: found.total,
  processedSequence: found.head.sequence,
  timestamp: timestampFromDate(found.head.changedAt),
  next: found.next,
});
