import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type GetIDPSchema,
  type IDPSchema,
  ProviderType,
} from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { wordsOf } from "../object/words.ts";
import { toSeen, toStatePolicy } from "../object/reuse/convert.ts";
import { configOf } from "./config.ts";
import { markOf } from "./mark.ts";
import { toOptions } from "./options.ts";
import type { SeenIdp } from "./queries.ts";
import { typeOf } from "./reader.ts";

const numbers = wordsOf(ProviderType, "");

const toCommon = ({ row, seen }: SeenIdp): MessageInitShape<typeof IDPSchema> => ({
  name: row.name,
  statePolicy: toStatePolicy(seen.statePolicy),
  options: toOptions(row.options),
});

/** A provider with what all types have. */
export const toGetIdp = (found: SeenIdp): MessageInitShape<typeof GetIDPSchema> => ({
  ...toSeen(found.seen),
  type: numbers.member(found.row.type),
  idp: toCommon(found),
});

/** A provider with its configuration and its mark: the messages of all types have one shape. */
export function toTypedIdp(found: SeenIdp) {
  const type = typeOf(found.row);
  const mark = markOf(found.row.mark);
  return {
    ...toSeen(found.seen),
    type: numbers.member(type),
    idp: {
      idp: { ...toCommon(found), ...(mark && { mark: mark.bytes }) },
      config: configOf(type, found.row.config),
    },
  };
}
