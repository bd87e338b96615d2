import { AuthService } from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import { ofService, type Sample, tooLong } from "./sample.ts";

export const authSamples: Record<string, Sample> = ofService(AuthService.typeName, {
  GetMyPermissions: {
    // All on one page: the cursor of a next one is sealed, and so another with each call.
    valid: () => ({ limit: 1000 }),
    invalid: { request: { after: "x".repeat(513) }, field: "after" },
    unknown: undefined,
    writes: false,
    stranger: "answered",
  },
  SearchAll: {
    valid: ({ userId }) => ({ q: userId }),
    invalid: { request: { q: tooLong }, field: "q" },
    unknown: undefined,
    writes: false,
    stranger: "answered",
  },
});
