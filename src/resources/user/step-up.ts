import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { StepUpNeeds } from "../../authz/service.ts";
import { decidesWhoTheyAre } from "./held-by.ts";

/** Requests that change no way to log in, and the one that brings its own proof. */
export const userStepUp: StepUpNeeds<typeof UserService> = {
  patchUser: ({ user }) => (user !== undefined && decidesWhoTheyAre(user) ? "proven" : "none"),
  setPassword: ({ newPassword }) =>
    newPassword?.verification.case === "currentPassword" ? "passwordGiven" : "proven",
};
