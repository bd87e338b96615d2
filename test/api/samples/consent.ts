import { ConsentService } from "#gen/idsvc/resources/consent/v3alpha/consent_service_pb.ts";
import { ofService, onId, type Sample, tooLong } from "./sample.ts";

export const consentSamples: Record<string, Sample> = ofService(ConsentService.typeName, {
  SearchConsents: {
    valid: ({ userId }) => ({
      query: { limit: 5 },
      sorting_column: "CONSENT_FIELD_NAME_CHANGE_DATE",
      filters: [{ user_id: userId }, { client_id: "404" }],
    }),
    invalid: { request: { filters: [{ user_id: tooLong }] }, field: "filters[0].user_id" },
    unknown: undefined,
    writes: false,
    stranger: "answered",
  },
  DeleteConsent: {
    ...onId("CONSENT_NOT_FOUND", (world) => world.consent()),
    stranger: { code: 5, reason: "CONSENT_NOT_FOUND" },
  },
});
