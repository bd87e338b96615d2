import type { MessageInitShape, JsonObject } from "@bufbuild/protobuf";
import type { SetEmail, SetPhone } from "#gen/idsvc/resources/user/v3alpha/contact_pb.ts";
import { type GetUserSchema, UserState } from "#gen/idsvc/resources/user/v3alpha/user_pb.ts";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toOrganizationOwnedDetails } from "../object/details.ts";
import type { toAuthenticators } from "./authenticator/convert.ts";
import type { Throttling } from "./check/attempts.ts";
import type { Delivery } from "./codes.ts";
import type { ContactKind } from "./contact.ts";
import { storedMailAddress } from "./mail-address.ts";
import type { Channel } from "./notice.ts";
import type { UserRow } from "./queries.ts";

const states: Record<string, UserState> = {
  inactive: UserState.INACTIVE,
  locked: UserState.LOCKED,
};

function toState({ state, schemaType, wasSetUp }: UserRow): UserState {
  if (state !== "active") return states[state] ?? UserState.UNSPECIFIED;
  return schemaType === "human" && !wasSetUp ? UserState.INITIAL : UserState.ACTIVE;
}

export function toGetUser(
  row: UserRow,
  shown: {
    domains: readonly string[];
    data: JsonObject;
    authenticators: ReturnType<typeof toAuthenticators>;
    throttling: Throttling;
  },
): MessageInitShape<typeof GetUserSchema> {
  const { schemaId, schemaType, schemaRevision, username, email, phone } = row;
  return {
    details: toOrganizationOwnedDetails(row),
    state: toState(row),
    user: {
      schema: { id: schemaId, type: schemaType, revision: schemaRevision },
      username,
      externalId: row.externalId ?? undefined,
      loginNames: shown.domains.map((domain) => `${username}@${domain}`),
      data: shown.data,
      contact: {
        email: email === null ? undefined : { address: email, isVerified: row.isEmailVerified },
        phone: phone === null ? undefined : { number: phone, isVerified: row.isPhoneVerified },
      },
      authenticators: shown.authenticators,
    },
    throttling: toThrottling(shown.throttling),
  };
}

/** A wish for a contact: the address, and how it is proven. Without a word it is by a code that is sent. */
export type WantedContact = {
  kind: ContactKind;
  address: string;
  proof: "known" | "returned" | "sent";
  /** Of the link in the mail. */
  urlTemplate?: string | undefined;
};

export const toWantedContact = (kind: ContactKind, wanted: SetEmail | SetPhone): WantedContact => ({
  kind,
  address: "address" in wanted ? storedMailAddress(wanted.address) : wanted.number,
  proof: toProof(wanted.verification.case),
  urlTemplate: urlTemplateOf(wanted.verification.value),
});

/** The template that says where the link of a message leads, where a wish for one has it. */
const urlTemplateOf = (wish: object | boolean | undefined): string | undefined =>
  typeof wish === "object" && "urlTemplate" in wish && typeof wish.urlTemplate === "string"
    ? wish.urlTemplate
    : undefined;

/** How a code gets to its user, by what a request asks for; it is sent by the channel unless it is to be returned. */
export const toDelivery = (
  channel: Channel,
  asked: { case?: string | undefined; value?: object | boolean | undefined } | undefined,
): Delivery =>
  asked?.case === "returnCode" ? "returned" : { channel, urlTemplate: urlTemplateOf(asked?.value) };

const toProof = (verification: SetEmail["verification"]["case"]): WantedContact["proof"] =>
  (({ isVerified: "known", returnCode: "returned", sendCode: "sent" }) as const)[
    verification ?? "sendCode"
  ];

/** How long nothing is judged; undefined where everything is. */
const toThrottling = ({ password, factor }: Throttling) =>
  password || factor
    ? {
        passwordsUntil: password && timestampFromDate(password),
        secondFactorsUntil: factor && timestampFromDate(factor),
      }
    : undefined;
