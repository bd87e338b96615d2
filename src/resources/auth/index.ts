import { AuthService } from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { type AppSearch, type AuthDeps, authHandlers } from "./handlers.ts";

export type { AuthPorts } from "./handlers.ts";

/**
 * What callers may do, and one search over all that they may read. It stores nothing.
 * @param ofApps what finds apps
 */
export const authModule = (ofApps: AppSearch): Module<AuthDeps> => ({
  events: [],
  projections: [],
  services: (deps) => [service(AuthService, authHandlers(deps, ofApps))],
});
