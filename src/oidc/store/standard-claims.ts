import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { UserProfile } from "../../resources/user/index.ts";
import type { StandardClaims } from "../core/ports.ts";

const same = [
  "given_name",
  "family_name",
  "middle_name",
  "nickname",
  "gender",
  "picture",
  "website",
  "profile",
  "birthdate",
  "zoneinfo",
];
const genders = new Set(["female", "male", "diverse"]);

/** What is known of a user as claims (OpenID Connect Core 1.0 section 5.1): of the right type, or absent. */
export function standardClaims(user: UserProfile, loginName: string): StandardClaims {
  const { data, email, phone, isEmailVerified, isPhoneVerified } = user;
  const claims: Record<string, unknown> = {};
  const put = (name: string, value: JsonValue | undefined | null) => {
    if (typeof value === "string" && value !== "") claims[name] = value;
  };
  put("name", user.displayName);
  for (const name of same) put(name, data[name]);
  const { gender } = claims;
  if (typeof gender === "string" && genders.has(gender.toLowerCase())) {
    claims["gender"] = gender.toLowerCase();
  }
  put("preferred_username", loginName);
  put("locale", data["preferred_language"]);
  claims["updated_at"] = Math.floor(user.changeDate.getTime() / 1000);
  if (email !== null && email !== "") {
    put("email", email);
    claims["email_verified"] = isEmailVerified;
  }
  if (phone !== null && phone !== "") {
    put("phone_number", phone);
    claims["phone_number_verified"] = isPhoneVerified;
  }
  const address = addressOf(data["address"]);
  if (address !== undefined) claims["address"] = address;
  return claims;
}

function addressOf(value: JsonValue | undefined): JsonObject | undefined {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  const filled = Object.entries(value).filter(([, each]) => typeof each === "string" && each);
  return filled.length === 0 ? undefined : Object.fromEntries(filled);
}
