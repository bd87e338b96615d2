import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  AutoLinkingOption,
  type Options,
  type OptionsSchema,
} from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import type { AutoLinking, IdpOptions } from "./events.ts";

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

const autoLinking: Record<AutoLinkingOption, AutoLinking> = {
  [AutoLinkingOption.UNSPECIFIED]: "none",
  [AutoLinkingOption.USERNAME]: "username",
  [AutoLinkingOption.EMAIL]: "email",
};

const autoLinkingNumbers: Record<AutoLinking, AutoLinkingOption> = {
  none: AutoLinkingOption.UNSPECIFIED,
  username: AutoLinkingOption.USERNAME,
  email: AutoLinkingOption.EMAIL,
};

/** The options that a request gives. */
export function givenOptions(options: Options | undefined): Partial<IdpOptions> {
  const { isLinkingAllowed, isCreationAllowed, isAutoCreation, isAutoUpdate } = options ?? {};
  const { autoLinking: linking, isSecondFactor, isEmailTrusted, isPhoneTrusted } = options ?? {};
  return {
    ...(isLinkingAllowed === undefined ? {} : { isLinkingAllowed }),
    ...(isCreationAllowed === undefined ? {} : { isCreationAllowed }),
    ...(isAutoCreation === undefined ? {} : { isAutoCreation }),
    ...(isAutoUpdate === undefined ? {} : { isAutoUpdate }),
    ...(isSecondFactor === undefined ? {} : { isSecondFactor }),
    ...(isEmailTrusted === undefined ? {} : { isEmailTrusted }),
    ...(isPhoneTrusted === undefined ? {} : { isPhoneTrusted }),
    ...(linking === undefined ? {} : { autoLinking: autoLinking[linking] }),
  };
}

/** The options of a new provider: none that is not given. */
export const newOptions = (options: Options | undefined): IdpOptions => ({
  ...none,
  ...givenOptions(options),
});

export const toOptions = (options: IdpOptions): MessageInitShape<typeof OptionsSchema> => ({
  ...options,
  autoLinking: autoLinkingNumbers[options.autoLinking],
});
