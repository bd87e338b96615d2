import type { JsonObject } from "@bufbuild/protobuf";
import type { UserEvent } from "./events.ts";

type Added = Extract<UserEvent, { type: "user.human.added" | "user.machine.added" | "user.added" }>;

/** What an event of whatever shape says of a new user. The data of an erased person are empty. */
export function firstData({ type, payload }: Added) {
  const { organizationId, username } = payload;
  if ("schemaId" in payload) {
    const { schemaId, schemaType, schemaRevision } = payload;
    const data = parseData(payload.data);
    return { organizationId, username, schemaId, schemaType, schemaRevision, data };
  }
  const schema = type === "user.machine.added" ? "machine" : "human";
  const named = { organizationId, username, schemaId: schema, schemaType: schema };
  if ("name" in payload) return { ...named, schemaRevision: 1, data: { name: payload.name } };
  const { givenName, familyName, displayName, preferredLanguage } = payload;
  const data = {
    given_name: givenName,
    family_name: familyName,
    display_name: displayName,
    preferred_language: preferredLanguage,
  };
  return { ...named, schemaRevision: 1, data };
}

/** The e-mail address that the first shape of `user.human.added` brought with it. */
export function firstEmail({ payload }: Added) {
  return "email" in payload
    ? { address: payload.email, isVerified: payload.isEmailVerified }
    : undefined;
}

export const parseData = (data: JsonObject | string): JsonObject => {
  if (typeof data !== "string") return data;
  return data === "" ? {} : (JSON.parse(data) as JsonObject);
};

/** How the data of a user call them; empty where they do not, and the user is shown by the username. */
export function displayNameOf(data: JsonObject): string {
  const text = (name: string) => {
    const value = data[name];
    return typeof value === "string" ? value.trim() : "";
  };
  const full = `${text("given_name")} ${text("family_name")}`.trim();
  return text("display_name") || full || text("name") || text("nickname");
}
