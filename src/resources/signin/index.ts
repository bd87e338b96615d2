import { SignInService } from "#gen/idsvc/resources/signin/v3alpha/sign_in_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import {
  signInAuthorize,
  signInHandlers,
  type SignedInAppReader,
  usersOfSignIns,
} from "./handlers.ts";

/**
 * Where people are signed in (L3). It stores nothing: a sign-in is what the sessions of a person in a browser are.
 * @param signedInApps the apps that hold something of sessions
 */
export const signInModule = (signedInApps: SignedInAppReader): Module => ({
  events: [],
  projections: [],
  services: (deps) => [
    service(
      SignInService,
      signInHandlers(deps, signedInApps),
      signInAuthorize(deps),
      usersOfSignIns(deps),
    ),
  ],
});
