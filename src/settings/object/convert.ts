import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { OwnerType } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import type {
  DetailsSchema,
  ResolvedBoolSchema,
  SetBool,
} from "#gen/idsvc/settings/object/v3alpha/object_pb.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Change, ContextSettings, Resolved } from "./settings.ts";

const ownerTypes = {
  system: OwnerType.SYSTEM,
  instance: OwnerType.INSTANCE,
  org: OwnerType.ORG,
};

const toOwner = ({ type, id }: OwnerRef) => ({ type: ownerTypes[type], id });

/** A setter's wish; nothing when the setter is absent or empty. */
export function toChange(setter: SetBool | undefined): Change | undefined {
  switch (setter?.value.case) {
    case "set":
      return { set: setter.value.value };
    case "reset":
      return { reset: true };
    default:
      return undefined;
  }
}

/** The wishes of several setters, by property. */
export function toChanges(setters: Record<string, SetBool | undefined>): Record<string, Change> {
  const changes: Record<string, Change> = {};
  for (const [property, setter] of Object.entries(setters)) {
    const change = toChange(setter);
    if (change !== undefined) changes[property] = change;
  }
  return changes;
}

export const toResolvedBool = ({
  value,
  owner,
}: Resolved): MessageInitShape<typeof ResolvedBoolSchema> => ({
  value: value === true,
  ...(owner === undefined ? {} : { owner: toOwner(owner) }),
});

/** The Details of a group of settings in a context; sequence 0 and no date where nothing was ever set. */
export const toSettingsDetails = ({
  owner,
  last,
}: Pick<ContextSettings, "owner" | "last">): MessageInitShape<typeof DetailsSchema> => ({
  sequence: last?.sequence ?? 0n,
  owner: toOwner(owner),
  ...(last === undefined ? {} : { changeDate: timestampFromDate(last.changeDate) }),
});
