import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SetEmail, SetPhone } from "#gen/idsvc/resources/user/v3alpha/contact_pb.ts";
import { type GetUserSchema, UserState } from "#gen/idsvc/resources/user/v3alpha/user_pb.ts";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toDetails } from "../object/details.ts";
import type { JsonObject } from "@bufbuild/protobuf";
import type { toAuthenticators } from "./authenticator/convert.ts";
import type { Throttling } from "./check/attempts.ts";
import type { ContactKind } from "./contact.ts";
import { storedMailAddress } from "./mail-address.ts";
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
    details: toDetails({ ...row, owner: { type: "org", id: row.organizationId } }),
    state: toState(row),
    user: {
      schema: { id: schemaId, type: schemaType, revision: schemaRevision },
      username,
      ...(row.externalId === null ? {} : { externalId: row.externalId }),
      loginNames: shown.domains.map((domain) => `${username}@${domain}`),
      data: shown.data,
      contact: {
        ...(email === null ? {} : { email: { address: email, isVerified: row.isEmailVerified } }),
        ...(phone === null ? {} : { phone: { number: phone, isVerified: row.isPhoneVerified } }),
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
  ...(wanted.verification.case === "sendCode" && "urlTemplate" in wanted.verification.value
    ? { urlTemplate: wanted.verification.value.urlTemplate }
    : {}),
});

const toProof = (verification: SetEmail["verification"]["case"]): WantedContact["proof"] =>
  (({ isVerified: "known", returnCode: "returned", sendCode: "sent" }) as const)[
    verification ?? "sendCode"
  ];

/** How long nothing is judged; undefined where everything is. */
function toThrottling({
  password,
  factor,
}: Throttling): MessageInitShape<typeof GetUserSchema>["throttling"] {
  if (password === undefined && factor === undefined) return undefined;
  return {
    ...(password && { passwordsUntil: timestampFromDate(password) }),
    ...(factor && { secondFactorsUntil: timestampFromDate(factor) }),
  };
}
