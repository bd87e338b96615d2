import { type DescField, getOption } from "@bufbuild/protobuf";
import { Floor, built_in_demands, floor, of_instance } from "#gen/idsvc/options/v1/options_pb.ts";

const demands: Readonly<Record<Floor, string>> = {
  [Floor.UNSPECIFIED]: "",
  [Floor.AT_LEAST]: "no smaller than what the instance has set",
  [Floor.AT_MOST]: "no greater or longer than what the instance has set",
  [Floor.TRUE_WINS]: "true where the instance has set true",
  [Floor.FALSE_WINS]: "false where the instance has set false",
  [Floor.NO_LONGER]: "no longer than what the instance has set",
  [Floor.SUBSET]: "among what the instance has set",
};

/** What organizations may make of a property of settings, as its options say. */
export function settingSentence(field: DescField): string {
  if (getOption(field, of_instance)) {
    return "Set for the instance alone: an organization that sets it is refused with `SETTING_OF_INSTANCE`.";
  }
  const demanded = demands[getOption(field, floor)];
  if (demanded === "") return "";
  const builtIn = getOption(field, built_in_demands) ? ", or what is built in" : "";
  return `In an organization it is ${demanded}${builtIn}; anything looser is refused with \`LOOSER_THAN_INSTANCE\`.`;
}
