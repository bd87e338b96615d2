import { alreadyExists } from "../../errors.ts";
import type { Module } from "../../projection/module.ts";
import { userEvents, usernameClaim } from "./events.ts";
import { userProjection } from "./projection.ts";

export { passwordSecret, personalAccessTokenSecret } from "./credentials.ts";
export { personalAccessTokens } from "./queries.ts";
export { addHuman, addMachine, addPersonalAccessToken, changePassword, user } from "./user.ts";

export const userModule: Module = {
  events: [userEvents],
  projections: [userProjection],
  claimErrors: {
    [usernameClaim]: () =>
      alreadyExists("USERNAME_TAKEN", "a user of this name exists in the organization"),
  },
};
