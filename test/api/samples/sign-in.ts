import { SignInService } from "#gen/idsvc/resources/signin/v3alpha/sign_in_service_pb.ts";
import { ofService, onId, type Sample, tooLong } from "./sample.ts";

export const signInSamples: Record<string, Sample> = ofService(SignInService.typeName, {
  SearchSignIns: {
    valid: ({ userId }) => ({
      query: { limit: 5 },
      sorting_column: "SIGN_IN_FIELD_NAME_CHANGE_DATE",
      filters: [{ user_id: userId }, { in_ids: { ids: ["404"] } }],
    }),
    invalid: { request: { filters: [{ user_id: tooLong }] }, field: "filters[0].user_id" },
    unknown: undefined,
    writes: false,
    stranger: "answered",
  },
  DeleteSignIn: {
    ...onId("SIGN_IN_NOT_FOUND", ({ make, userId }) =>
      make("/sessions", { checks: { user: { user_id: userId } } }),
    ),
    stranger: { code: 5, reason: "SIGN_IN_NOT_FOUND" },
  },
});
