import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { IdentityProviderService } from "#gen/idsvc/resources/idp/v3alpha/identity_provider_service_pb.ts";
import {
  type Action,
  begins,
  contextOf,
  type Field,
  type Kind,
  type Listed,
  present,
  type Rows,
  type Sample,
  textAt,
  type Ways,
} from "./declare.ts";
import { fieldsIn } from "./fields.ts";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { historyOf, id, ownFacts } from "./shared.ts";

const idps = IdentityProviderService.method;

/** The kinds of providers: the value of the schema, and the methods of each. */
const kinds: readonly [
  type: string,
  create: DescMethodUnary,
  patch: DescMethodUnary,
  get: DescMethodUnary,
][] = [
  ["OIDC", idps.createOIDCIDP, idps.patchOIDCIDP, idps.getOIDCIDP],
  ["SAML", idps.createSAMLIDP, idps.patchSAMLIDP, idps.getSAMLIDP],
  ["LDAP", idps.createLDAPIDP, idps.patchLDAPIDP, idps.getLDAPIDP],
  ["OAUTH", idps.createOAuthIDP, idps.patchOAuthIDP, idps.getOAuthIDP],
  ["JWT", idps.createJWTIDP, idps.patchJWTIDP, idps.getJWTIDP],
  ["DIRECTORY_A", idps.createDirectoryAIDP, idps.patchDirectoryAIDP, idps.getDirectoryAIDP],
  ["FORGE_A", idps.createForgeAIDP, idps.patchForgeAIDP, idps.getForgeAIDP],
  ["FORGE_A_ES", idps.createForgeAESIDP, idps.patchForgeAESIDP, idps.getForgeAESIDP],
  ["FORGE_B", idps.createForgeBIDP, idps.patchForgeBIDP, idps.getForgeBIDP],
  [
    "FORGE_B_SELF_HOSTED",
    idps.createForgeBSelfHostedIDP,
    idps.patchForgeBSelfHostedIDP,
    idps.getForgeBSelfHostedIDP,
  ],
  ["SOCIAL_A", idps.createSocialAIDP, idps.patchSocialAIDP, idps.getSocialAIDP],
  ["SOCIAL_B", idps.createSocialBIDP, idps.patchSocialBIDP, idps.getSocialBIDP],
];

/** What to ask for first: the name, then what the provider gives, then what the service makes of it. */
function providerFields({ input }: DescMethodUnary): Field[] {
  const place = ({ path }: Field): number =>
    path === "idp.idp.name" ? 0 : path.startsWith("idp.config.") ? 1 : 2;
  return fieldsIn(input, "idp")
    .map((field) =>
      field.path === "idp.config.client_id" ? { ...field, hint: "hintClientOfProvider" } : field,
    )
    .toSorted((one, other) => place(one) - place(other));
}

/** What is registered at a provider, so that it sends people back: nothing at a directory, which sends nobody. */
function registeredAt(type: string, providerId: string, issuer: string): Sample[] {
  switch (type) {
    case "LDAP":
      return [];
    case "SAML": {
      const saml = `${issuer}/idps/${encodeURIComponent(providerId)}/saml`;
      return [
        { word: "samlMetadata", text: `${saml}/metadata` },
        { word: "samlAnswers", text: `${saml}/acs` },
      ];
    }
    case "JWT":
      return [{ word: "redirectOfProvider", text: `${issuer}/idps/jwt` }];
    default:
      return [{ word: "redirectOfProvider", text: `${issuer}/idps/callback` }];
  }
}

const typeName = (type: string): string => `PROVIDER_TYPE_${type}`;
const pathOf = (type: string): string => `/providers/${type.toLowerCase()}`;

const changed = [{ path: "suspended_links" }] as const;

const ofInstance = "OWNER_TYPE_INSTANCE";

/** Another context has it from above. */
const inherits = (object: JsonObject): boolean => object["parent"] !== undefined;
const isOwn = (object: JsonObject): boolean => !inherits(object);

/** What a context that inherits a provider can make of it. */
const decisions: Ways["ways"] = [
  { word: "asInstance", given: { "idp.idp.state_policy": { is: "STATE_POLICY_INHERIT" } } },
  {
    word: "EFFECTIVE_STATE_ACTIVE",
    given: { "idp.idp.state_policy": { is: "STATE_POLICY_ACTIVATE" } },
  },
  {
    word: "EFFECTIVE_STATE_INACTIVE",
    given: { "idp.idp.state_policy": { is: "STATE_POLICY_DEACTIVATE" } },
  },
];

const shared: readonly Action[] = [
  {
    word: "confirmProvider",
    when: isOwn,
    method: idps.confirmIDP,
    given: id,
    isDangerous: true,
    outcome: [{ path: "confirmed_links" }, { path: "suspended_links" }],
  },
  {
    word: "previewState",
    method: idps.previewIDPStatePolicy,
    given: id,
    fields: [{ path: "preview.state_policy", isRequired: true }],
    outcome: [
      { path: "state_before" },
      { path: "state_after" },
      { path: "organizations.total", word: "organizations" },
      { path: "users.total", word: "people" },
      { path: "apps.total", word: "applications" },
    ],
  },
  {
    word: "delete",
    method: idps.deleteIDP,
    given: id,
    isDangerous: true,
    leadsTo: "/providers",
    when: isOwn,
  },
];

/** The organizations that do otherwise than the instance, or would do the same if it changed. */
const decidedBy: Rows = {
  word: "decidedByOrganizations",
  tab: "access",
  search: {
    method: idps.listIDPStatePolicies,
    request: (object) => ({ id: textAt(object, "details.id") }),
  },
  when: (object) => isOwn(object) && textAt(object, "details.resource_owner.type") === ofInstance,
  columns: [
    { path: "organization_id", word: "organization", as: "organization" },
    { path: "state" },
    { path: "change_date", word: "changed" },
  ],
};

/** The page of a kind of providers, as its path calls it. */
export function providerPages(path: string): Kind {
  const found = kinds.find(([type]) => type.toLowerCase() === path);
  if (found === undefined) throw new Error(`there are no providers of the kind ${path}`);
  const [type, , patch, get] = found;
  return {
    back: { to: "/providers", word: "providers" },
    get,
    object: "idp",
    title: (object) => textAt(object, "idp.idp.name"),
    organization: "details.resource_owner.id",
    isInherited: true,
    facts: [
      { path: "type", word: "kind" },
      { path: "state" },
      { path: "parent.state", word: "stateAbove" },
      ...fieldsIn(get.output, "idp.idp", ["mark"]).map((field) => ({ path: field.path.slice(4) })),
      ...ownFacts,
    ],
    actions: [
      {
        word: "edit",
        method: patch,
        given: id,
        isChange: true,
        fields: providerFields(patch),
        outcome: changed,
        when: isOwn,
      },
      {
        word: "decideState",
        about: "about_decideState",
        method: patch,
        given: id,
        fields: [{ word: "state", ways: decisions }],
        when: inherits,
      },
      ...shared,
    ],
    rows: [decidedBy],
    history: historyOf("idp"),
    guide(object, issuer) {
      const owner = "details.resource_owner";
      const ofOrganization = textAt(object, `${owner}.type`) === "OWNER_TYPE_ORG";
      const query = new URLSearchParams({
        idp: textAt(object, "details.id"),
        ...(ofOrganization ? { org: textAt(object, `${owner}.id`) } : {}),
      });
      return [
        ...registeredAt(type, textAt(object, "details.id"), issuer),
        { word: "testLogIn", text: `${issuer}/ui/console/login?${query}` },
      ];
    },
    guideWord: "guideOfProvider",
  };
}

/** Log-ins with providers that failed, and why. */
export const failedLogIns: Listed = {
  search: {
    method: EventService.method.searchEvents,
    request: ({ org, sequence }) => ({
      ...contextOf(org),
      filters: present([
        { types: { types: ["idpintent.failed"] } },
        sequence !== undefined && { sequence },
      ]),
    }),
    isDescending: true,
  },
  logWindow: 100_000n,
  hasNoFilter: true,
  watches: ["idpintent.failed"],
  hint: "hintFailedLogIns",
  columns: [
    { path: "payload.reason", word: "reason", as: "reason" },
    { path: "creation_date", word: "when" },
    { path: "payload.idpId", word: "provider", as: "provider" },
    { path: "aggregate.id", word: "id", as: "code" },
  ],
};

export const providers: Listed = {
  isOfInstance: true,
  search: {
    method: idps.searchIDPs,
    request: ({ q, org }) => ({
      ...contextOf(org),
      filters: present([q !== "" && { name: begins(q) }]),
    }),
  },
  watches: ["instance.idp", "org.idp"],
  columns: [
    { path: "idp.name" },
    { path: "type", word: "kind" },
    { path: "state" },
    { path: "details.change_date", word: "changed" },
  ],
  opens: {
    to: (object) => {
      const type = textAt(object, "type").replace("PROVIDER_TYPE_", "");
      return `${pathOf(type)}/$id`;
    },
    id: "details.id",
  },
  addWord: "addProviderOf",
  add: kinds.map(([type, create]) => ({
    word: typeName(type),
    did: "providerAdded",
    send: "save",
    method: create,
    fields: providerFields(create),
    leadsTo: `${pathOf(type)}/$id`,
  })),
};
