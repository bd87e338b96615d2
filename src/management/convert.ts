import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ManagementDetailsSchema,
  Gender,
  type HumanEmail,
  type HumanPhone,
  type HumanProfile,
} from "#gen/idsvc/management/v1/user_pb.ts";
import { invalidField } from "../errors.ts";
import type { Written } from "../eventstore/transaction.ts";
import { type NewHuman, storedMailAddress, storedPhoneNumber } from "../resources/user/index.ts";

// As the schema `human` says.
const longestName = 200;

const genders: Readonly<Record<Gender, string | undefined>> = {
  [Gender.UNSPECIFIED]: undefined,
  [Gender.FEMALE]: "female",
  [Gender.MALE]: "male",
  [Gender.DIVERSE]: "diverse",
};

/** The member of the enum that a text of the schema stands for; undefined for any other text. */
export const genderOf = (text: unknown): Gender | undefined =>
  typeof text === "string" ? byText.get(text) : undefined;

const byText = new Map(
  [Gender.FEMALE, Gender.MALE, Gender.DIVERSE].map((gender) => [genders[gender], gender]),
);

/**
 * A profile as data of the schema `human`. The name that is shown is first and last name unless another one is given; where they are
 * longer together than a name may be, they are shown without being stored as one.
 */
export function toData(profile: Omit<HumanProfile, "$typeName">): NewHuman["data"] {
  const { firstName, lastName, nickName, displayName, preferredLanguage, gender } = profile;
  const full = `${firstName} ${lastName}`.trim();
  const all = {
    given_name: firstName,
    family_name: lastName,
    nickname: nickName,
    display_name: displayName || ([...full].length > longestName ? "" : full),
    preferred_language: preferredLanguage,
    gender: genders[gender] ?? "",
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
}

export const toEmail = ({
  email,
  isEmailVerified,
}: HumanEmail): NonNullable<NewHuman["email"]> => ({
  address: storedMailAddress(email),
  isVerified: isEmailVerified,
});

/** The number as it is kept (E.164). @throws INVALID_ARGUMENT PHONE_INVALID when too many or too few digits are left */
export function toPhone(phone: HumanPhone | undefined, field: string): NewHuman["phone"] {
  if (phone === undefined) return undefined;
  const address = storedPhoneNumber(phone.phone);
  if (address === undefined) {
    throw invalidField(field, "PHONE_INVALID", "must be a plus sign and 4 to 15 digits");
  }
  return { address, isVerified: phone.isPhoneVerified };
}

/**
 * The password of a new person, or the hash that counts in its place; undefined where there is neither.
 *
 * @param prefix of the fields that they come in, for refusals
 */
export function toPassword(
  password: string,
  hashed: { value: string } | undefined,
  { changeRequired, prefix }: { changeRequired: boolean; prefix: string },
): NewHuman["password"] {
  const hash = hashed?.value ?? "";
  if (hash === "" && password === "") return undefined;
  const fields = { password: `${prefix}password`, hash: `${prefix}hashed_password.value` };
  const type =
    hash === ""
      ? ({ case: "password", value: password } as const)
      : ({ case: "hash", value: hash } as const);
  return { type, changeRequired, fields };
}

/** A text in something whose shape is not known here; empty where there is none. */
export function textIn(value: unknown, name: string): string {
  const found: unknown = Reflect.get(Object(value), name);
  return typeof found === "string" ? found : "";
}

/** Of what was just created. */
export const toCreatedDetails = ({
  sequence,
  changeDate,
  owner,
}: Written): MessageInitShape<typeof ManagementDetailsSchema> => ({
  sequence,
  creationDate: timestampFromDate(changeDate),
  changeDate: timestampFromDate(changeDate),
  resourceOwner: owner.id,
});
