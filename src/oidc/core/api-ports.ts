import type { Awaitable } from "../../awaitable.ts";
import type { At, Client, User } from "./ports.ts";

/** Permissions by their names, or `*`, and where they count. */
export type ApiReach = {
  permissions: readonly string[];
  instance: boolean;
  organizationIds: readonly string[];
};

/**
 * What a user let a client do at the service's own APIs (J4): read their own account; act for them in the
 * organization that client and user belong to; all that they may do; what the client is given; as before there was such a
 * choice. What is left of it is looked at whenever a token is used.
 */
export type ApiPower =
  | { kind: "own" }
  | { kind: "organization"; organizationId: string }
  | { kind: "everything" }
  | ({ kind: "given"; trusted: boolean } & ApiReach)
  | { kind: "legacy" };

/** Whom a token is for (J8): an app, a project with its apps, or the service's own APIs. */
export type AudienceRef = { kind: "client" | "project" | "api"; id: string };

export interface Consents {
  /**
   * What tokens of the client for the user may do at our own APIs, by what the user consented to, or the client is trusted
   * with; undefined where nothing was given.
   */
  apiPower(at: At, user: User, client: Client): Awaitable<ApiPower | undefined>;
}
