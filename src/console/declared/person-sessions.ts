import type { JsonObject } from "@bufbuild/protobuf";
import { ConsentService } from "#gen/idsvc/resources/consent/v3alpha/consent_service_pb.ts";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { SignInService } from "#gen/idsvc/resources/signin/v3alpha/sign_in_service_pb.ts";
import { type Rows, type Shown, textAt } from "./declare.ts";
import { isPerson } from "./person-credentials.ts";
import { objectsAt } from "./schema.ts";
import { id, withdraw } from "./shared.ts";

/** The applications that a sign-in has: those too that ask nobody for consent. */
export const signedInApps: Shown = {
  path: "apps",
  word: "applications",
  text: (row) =>
    objectsAt(row, "apps")
      .map((app) => textAt(app, "app_name") || textAt(app, "client_id"))
      .join(", "),
};

const ofUser = (object: JsonObject) => ({ filters: [{ user_id: textAt(object, "details.id") }] });

export const signIns: Rows = {
  word: "signIns",
  tab: "sessions",
  about: "about_signIns",
  search: { method: SignInService.method.searchSignIns, request: ofUser },
  columns: [
    { path: "browser" },
    { path: "system" },
    { path: "address", word: "seenAddress" },
    signedInApps,
    { path: "since" },
    { path: "last_seen" },
  ],
  actions: [
    { word: "end", method: SignInService.method.deleteSignIn, given: id, isDangerous: true },
  ],
};

export const sessions: Rows = {
  word: "sessions",
  tab: "sessions",
  about: "about_sessions",
  search: { method: SessionService.method.searchSessions, request: ofUser },
  columns: [
    { path: "details.id", word: "id", as: "code" },
    { path: "user_agent.description", word: "field_browser" },
    { path: "creation_date" },
    { path: "expiration_date" },
  ],
  actions: [
    { word: "end", method: SessionService.method.deleteSession, given: id, isDangerous: true },
  ],
  add: [
    {
      word: "endAll",
      about: "about_endAll",
      method: SessionService.method.endOtherSessions,
      given: { user_id: { page: "details.id" } },
      isDangerous: true,
    },
  ],
};

export const consents: Rows = {
  word: "consents",
  tab: "sessions",
  when: isPerson,
  search: { method: ConsentService.method.searchConsents, request: ofUser },
  about: "hintConsents",
  columns: [
    { path: "app_name", word: "application" },
    { path: "scopes" },
    { path: "access", word: "access" },
    { path: "since" },
    { path: "last_used", word: "field_last_use_date" },
  ],
  actions: [withdraw],
};

export const refusals: Rows = {
  word: "refusals",
  tab: "refusals",
  search: {
    method: EventService.method.searchRefusals,
    request: (object) => ({ filters: [{ user: { id: textAt(object, "details.id") } }] }),
    isDescending: true,
  },
  columns: [
    { path: "kind", word: "kind" },
    { path: "reason", word: "reason", as: "reason" },
    { path: "client_id", as: "code" },
    { path: "count" },
    { path: "last_date" },
  ],
};
