import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  AutoLinkingOption,
  type Options,
  type OptionsSchema,
} from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { wordsOf } from "../object/words.ts";
import type { IdpOptions } from "./events.ts";

const none: IdpOptions = {
  isLinkingAllowed: false,
  isCreationAllowed: false,
  isAutoCreation: false,
  isAutoUpdate: false,
  autoLinking: "none",
  isSecondFactor: false,
  isEmailTrusted: false,
  isPhoneTrusted: false,
};
const { autoLinking: _, ...noFlags } = none;
const flags = Object.keys(noFlags) as (keyof typeof noFlags)[];
const autoLinking = wordsOf(AutoLinkingOption, "none");

/** The options that a request gives. */
export function givenOptions(options: Options | undefined): Partial<IdpOptions> {
  const given: Partial<IdpOptions> = {};
  for (const name of flags) if (options?.[name] !== undefined) given[name] = options[name];
  const linking = options?.autoLinking;
  return linking === undefined ? given : { ...given, autoLinking: autoLinking.word(linking) };
}

/** The options of a new provider: none that is not given. */
export const newOptions = (options: Options | undefined): IdpOptions => ({
  ...none,
  ...givenOptions(options),
});

export const toOptions = (options: IdpOptions): MessageInitShape<typeof OptionsSchema> => ({
  ...options,
  autoLinking: autoLinking.member(options.autoLinking),
});
