import { State } from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import { t } from "../told.ts";

export const activityOf = (state: State): string =>
  state === State.EFFECTIVE_STATE_UNSPECIFIED
    ? ""
    : t(state === State.EFFECTIVE_STATE_ACTIVE ? "active" : "inactive");
