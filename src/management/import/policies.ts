import type { DescMessage, JsonValue, MessageShape } from "@bufbuild/protobuf";
import {
  ImportedLabelPolicySchema,
  ImportedLockoutPolicySchema,
  ImportedLoginPolicySchema,
  ImportedMultiFactorSchema,
  ImportedPasswordPolicySchema,
  ImportedSecondFactorSchema,
  ImportedTextsSchema,
  type SecondFactorType,
} from "#gen/idsvc/management/v1/data_pb.ts";
import { requireOrganization } from "../../resources/org/index.ts";
import { brandingSettings } from "../../settings/policy/branding.ts";
import { loginSettings, secondFactors } from "../../settings/policy/login.ts";
import { demandedOf } from "../../settings/object/contexts.ts";
import type { SettingsGroup, SettingValue, SetValues } from "../../settings/object/settings.ts";
import { propertyOfText, requireText, textSettings } from "../../settings/policy/text.ts";
import { factorOf, type ManagedSettings, themeOf } from "../policy-names.ts";
import { created, existed, kind, type Kind, note, type Ref } from "./kind.ts";

/** What is set for organizations: how they log in, and what people see and read there. */
export const policyKinds = ({ passwords }: ManagedSettings): Kind[] => [
  ...(passwords === undefined ? [] : [passwordKind(passwords)]),
  policy("loginPolicy", ImportedLoginPolicySchema, loginSettings, (wanted) => ({
    allow_username_password: wanted.allowUsernamePassword,
    allow_register: wanted.allowRegister,
    allow_external_idp: wanted.allowExternalIdp,
    force_mfa: wanted.forceMfa,
    hide_password_reset: wanted.hidePasswordReset,
    ignore_unknown_usernames: wanted.ignoreUnknownUsernames,
    default_redirect_uri: wanted.defaultRedirectUri,
    passkeys_allowed: wanted.passkeysAllowed,
  })),
  policy("lockoutPolicy", ImportedLockoutPolicySchema, loginSettings, (wanted) => ({
    max_password_attempts: wanted.maxPasswordAttempts?.toString(),
  })),
  policy("labelPolicy", ImportedLabelPolicySchema, brandingSettings, (wanted) => ({
    product_name: wanted.productName,
    primary_color: wanted.primaryColor,
    background_color: wanted.backgroundColor,
    theme: themeOf(wanted.themeMode),
  })),
  policy(
    "secondFactors",
    ImportedSecondFactorSchema,
    loginSettings,
    ({ type }, { second_factors: before }) => {
      const all = new Set(Array.isArray(before) ? before : []);
      const factor = factorOf(type);
      if (factor !== undefined) all.add(factor);
      // The first one takes the place of all that are inherited.
      return { second_factors: secondFactors.filter((each) => all.has(each)) };
    },
    ({ type }) => secondFactorName(type),
  ),
  policy(
    "multiFactors",
    ImportedMultiFactorSchema,
    loginSettings,
    () => ({ passkeys_allowed: true }),
    () => "U2F_WITH_VERIFICATION",
  ),
  policy(
    "loginTexts",
    ImportedTextsSchema,
    textSettings,
    ({ language, texts }) =>
      Object.fromEntries(
        Object.entries(texts).map(([key, set]) => {
          requireText(`texts["${key}"]`, { key, language, set });
          return [propertyOfText(language, key), set];
        }),
      ),
    ({ language }) => language,
  ),
];

const passwordKind = (group: SettingsGroup): Kind =>
  policy("passwordComplexityPolicy", ImportedPasswordPolicySchema, group, (wanted) => ({
    min_length: wanted.minLength?.toString(),
    requires_uppercase: wanted.hasUppercase,
    requires_lowercase: wanted.hasLowercase,
    requires_number: wanted.hasNumber,
    requires_symbol: wanted.hasSymbol,
  }));

const secondFactorName = (type: SecondFactorType): string => factorOf(type) ?? "none";

/** What is set for an organization: the properties that are given, the others stay as they are. */
export function policy<D extends DescMessage>(
  name: string,
  type: D,
  group: SettingsGroup,
  toValues: (
    record: MessageShape<D>,
    current: SetValues,
  ) => Record<string, SettingValue | undefined>,
  idOf: (record: MessageShape<D>) => string = () => name,
): Kind {
  const noteId = (orgId: string, property: string) => `${orgId}/${group.name}/${property}`;
  return kind<D>(name, {
    type,
    idOf,
    refs: (record, orgId) => [
      { type: "organization", id: orgId },
      ...Object.keys(toValues(record, {})).map((property): Ref => {
        return { type: "policy", id: noteId(orgId, property) };
      }),
    ],
    begin: (record, { instanceId, orgId, known }) => {
      const properties = Object.keys(toValues(record, {}));
      return async (tx) => {
        await requireOrganization(tx, orgId);
        const loaded = await tx.load(group.aggregate, orgId);
        const current: Record<string, SettingValue> = { ...loaded.state };
        for (const property of properties) {
          const noted = (await known.find("policy", noteId(orgId, property)))?.["value"];
          if (isSetting(noted)) current[property] = noted;
        }
        const wished = Object.entries(toValues(record, current)).flatMap(([property, value]) =>
          value === undefined ? [] : [[property, value] as const],
        );
        const changes = wished.map(([property, set]) => [property, { set }] as const);
        const demanded = await demandedOf(tx, group, instanceId);
        const happened = group.decide("org", current, Object.fromEntries(changes), demanded);
        if (happened.length === 0) return existed;
        tx.record(group.aggregate, loaded, happened, { type: "org", id: orgId });
        return created(
          ...wished.map(([property, value]) => note("policy", noteId(orgId, property), { value })),
        );
      };
    },
  });
}

const isSetting = (value: JsonValue | undefined): value is SettingValue =>
  typeof value === "string" ||
  typeof value === "boolean" ||
  (Array.isArray(value) && value.every((each) => typeof each === "string"));
