import {
  ImportedDomainSchema,
  ImportedLockoutPolicySchema,
  ImportedLoginPolicySchema,
  ImportedOrgSchema,
  ImportedPasswordPolicySchema,
} from "#gen/idsvc/management/v1/data_pb.ts";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Deps } from "../../projection/module.ts";
import { addToOrganization, judgeDomain, setPrimary } from "../../resources/domain/index.ts";
import {
  deactivateOrganization,
  organization,
  organizationCreator,
  organizationRecorder,
  requireOrganization,
} from "../../resources/org/index.ts";
import { loginSettings, loginSettingsReader } from "../../settings/login/index.ts";
import type { SettingsGroup, SettingValue } from "../../settings/object/settings.ts";
import { passwordSettings } from "../../settings/password/index.ts";
import { current } from "../../storage/read-cache.ts";
import { created, existed, kind, type Kind, note } from "./kind.ts";

/** Organizations, and what is set for them. */
export function organizationKinds(deps: Deps): Kind[] {
  const create = organizationCreator(deps);
  const recordAll = organizationRecorder(deps);
  const loginOf = current(deps.db, loginSettingsReader(deps.db));

  return [
    kind("org", {
      type: ImportedOrgSchema,
      idOf: ({ name }) => name,
      refs: (_, id) => [{ type: "organization", id }],
      begin:
        ({ name, domain: wanted, inactive }, { instanceId, orgId }) =>
        async (tx) => {
          const loaded = await tx.load(organization, orgId);
          if (loaded.state !== undefined) return existed;
          const made = await create(tx, instanceId, {
            id: orgId,
            name,
            domain: wanted || undefined,
          });
          if (inactive) tx.record(organization, made, deactivateOrganization(made.state, false));
          const domain = made.state?.primaryDomain ?? "";
          return created(note("organization", orgId, { name, domain }));
        },
    }),
    kind("domains", {
      type: ImportedDomainSchema,
      idOf: ({ domainName }) => domainName,
      refs: (_, id) => [{ type: "organization", id }],
      begin:
        ({ domainName, isVerified, isPrimary }, { instanceId, orgId, known }) =>
        async (tx) => {
          await requireOrganization(tx, orgId);
          const loaded = await tx.load(organization, orgId);
          const domain = domainName.toLowerCase();
          const noteId = `${orgId}/${domain}`;
          const present = loaded.state?.domains.find(({ name }) => name === domain);
          if (present === undefined && (await known.find("domain", noteId)) === undefined) {
            const { validateOrgDomains } = await loginOf(instanceId, orgId);
            const type = isVerified || !validateOrgDomains ? undefined : "dns";
            const domainId = deps.newId();
            const added = addToOrganization(loaded.state, { domain, domainId }, type);
            await recordAll(tx, instanceId, loaded, added);
            if (isPrimary) tx.record(organization, loaded, setPrimary(loaded.state, domainId));
            return created(note("domain", noteId));
          }
          if (present !== undefined && isVerified && !present.isVerified) {
            await recordAll(tx, instanceId, loaded, judgeDomain(loaded.state, present.id, true));
          }
          const isNew =
            isPrimary && present !== undefined && loaded.state?.primaryDomain !== domain;
          if (isNew) tx.record(organization, loaded, setPrimary(loaded.state, present.id));
          return existed;
        },
    }),
    policy(
      "passwordComplexityPolicy",
      ImportedPasswordPolicySchema,
      passwordSettings,
      (wanted) => ({
        min_length: wanted.minLength?.toString(),
        requires_uppercase: wanted.hasUppercase,
        requires_lowercase: wanted.hasLowercase,
        requires_number: wanted.hasNumber,
        requires_symbol: wanted.hasSymbol,
      }),
    ),
    policy("loginPolicy", ImportedLoginPolicySchema, loginSettings, (wanted) => ({
      allow_username_password: wanted.allowUsernamePassword,
      allow_register: wanted.allowRegister,
      allow_external_idp: wanted.allowExternalIdp,
      force_mfa: wanted.forceMfa,
      hide_password_reset: wanted.hidePasswordReset,
      ignore_unknown_usernames: wanted.ignoreUnknownUsernames,
      default_redirect_uri: wanted.defaultRedirectUri,
    })),
    policy("lockoutPolicy", ImportedLockoutPolicySchema, loginSettings, (wanted) => ({
      max_password_attempts: wanted.maxPasswordAttempts?.toString(),
    })),
  ];
}

/** What is set for an organization: the properties that are given, the others stay as they are. */
function policy<D extends DescMessage>(
  name: string,
  type: D,
  group: SettingsGroup,
  toValues: (record: MessageShape<D>) => Record<string, SettingValue | undefined>,
): Kind {
  return kind<D>(name, {
    type,
    idOf: () => name,
    refs: (_, id) => [{ type: "organization", id }],
    begin: (record, { orgId, known }) => {
      const wished = Object.fromEntries(
        Object.entries(toValues(record)).flatMap(([property, value]) =>
          value === undefined ? [] : [[property, { set: value }] as const],
        ),
      );
      const id = `${orgId}/${name}`;
      const facts = { wished: JSON.stringify(wished) };
      return async (tx) => {
        await requireOrganization(tx, orgId);
        if ((await known.find("policy", id))?.["wished"] === facts.wished) return existed;
        const loaded = await tx.load(group.aggregate, orgId);
        const happened = group.decide("org", loaded.state, wished);
        if (happened.length === 0) return existed;
        tx.record(group.aggregate, loaded, happened, { type: "org", id: orgId });
        return created(note("policy", id, facts));
      };
    },
  });
}
