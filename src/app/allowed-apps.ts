import { toJson } from "@bufbuild/protobuf";
import {
  ConsentedAccess,
  GetConsentSchema,
} from "#gen/idsvc/resources/consent/v3alpha/consent_pb.ts";
import { ConsentService } from "#gen/idsvc/resources/consent/v3alpha/consent_service_pb.ts";
import type { AllowedApp, AllowedApps, Own, Part } from "../account/index.ts";

const { searchConsents, deleteConsent } = ConsentService.method;

/** What people let apps have, as the service of consents answers it. */
export const allowedApps: AllowedApps = {
  async search(own, part) {
    const { result } = await found(own, part);
    return result.map(({ details, appName, clientId, access, ...consent }) => ({
      ...consent,
      id: details?.id ?? "",
      app: appName || clientId,
      access: words[access],
    }));
  },
  async written(own, part) {
    const { result } = await found(own, part);
    return result.map((each) => toJson(GetConsentSchema, each, { useProtoFieldName: true }));
  },
  end: ({ call }, id) => call(deleteConsent, { id }),
};

const found = ({ call, user }: Pick<Own, "call" | "user">, { limit, offset }: Part) =>
  call(searchConsents, {
    query: { limit, offset: BigInt(offset) },
    filters: [{ filter: { case: "userId", value: user.id } }],
  });

const words: Readonly<Record<ConsentedAccess, AllowedApp["access"]>> = {
  [ConsentedAccess.UNSPECIFIED]: undefined,
  [ConsentedAccess.OWN_ACCOUNT]: "own",
  [ConsentedAccess.ORGANIZATION]: "organization",
  [ConsentedAccess.GIVEN]: "given",
  [ConsentedAccess.EVERYTHING]: "everything",
  [ConsentedAccess.LEGACY]: "legacy",
};
