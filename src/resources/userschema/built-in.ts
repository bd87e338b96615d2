import type { JsonObject } from "@bufbuild/protobuf";

/** A user schema as its users meet it, built in or stored. */
export type UserSchema = {
  id: string;
  type: string;
  /** One more with every change of `schema`; users of earlier ones stay valid until they are changed. */
  revision: number;
  state: "active" | "inactive";
  schema: JsonObject;
  /** Names of `AuthenticatorType` without their prefix. */
  possibleAuthenticators: string[];
};

// Nothing that cannot be seen, or that changes how other characters are shown (the rule `display_name` of the API).
export const visible = "^[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}]*$";
const name = (title: string, maxLength = 200): JsonObject => ({
  title,
  type: "string",
  minLength: 1,
  maxLength,
  pattern: visible,
});
const httpUrl = (title: string): JsonObject => ({
  title,
  type: "string",
  format: "uri",
  pattern: "^[Hh][Tt][Tt][Pp][Ss]?://",
  maxLength: 2048,
});
const lines = (title: string, maxLength: number): JsonObject => ({
  title,
  type: "string",
  maxLength,
});

const draft = "https://json-schema.org/draft/2020-12/schema";

/** People: the standard claims of OpenID Connect Core 5.1 and 5.1.1 that no other part of a user holds. */
const human: UserSchema = {
  id: "human",
  type: "human",
  revision: 1,
  state: "active",
  possibleAuthenticators: [
    "USERNAME",
    "PASSWORD",
    "WEBAUTHN",
    "TOTP",
    "OTP_EMAIL",
    "OTP_SMS",
    "IDENTITY_PROVIDER",
  ],
  schema: {
    $schema: draft,
    title: "Human",
    type: "object",
    additionalProperties: false,
    "urn:idsvc:schema:permission": { owner: "rw", self: "rw" },
    properties: {
      given_name: name("Given name"),
      family_name: name("Family name"),
      middle_name: name("Middle name"),
      nickname: name("Nickname"),
      display_name: name("Display name"),
      preferred_language: {
        title: "Preferred language, a tag of BCP 47",
        type: "string",
        pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
        maxLength: 35,
      },
      gender: name("Gender", 50),
      picture: httpUrl("Picture"),
      website: httpUrl("Website"),
      profile: httpUrl("Profile page"),
      birthdate: {
        title: "Date of birth, YYYY-MM-DD or YYYY; the year 0000 stands for an omitted one",
        type: "string",
        anyOf: [{ format: "date" }, { pattern: "^[0-9]{4}$" }],
      },
      zoneinfo: {
        title: "Time zone, a name of the IANA database",
        type: "string",
        pattern: "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$",
        maxLength: 64,
      },
      address: {
        title: "Address",
        type: "object",
        additionalProperties: false,
        properties: {
          formatted: lines("The whole address, in lines", 1000),
          street_address: lines("Street, in lines", 500),
          locality: name("City"),
          region: name("State, province or region"),
          postal_code: name("Postal code", 50),
          country: name("Country"),
        },
      },
    },
  },
};

/** Programs. Only an owner changes what they are called. */
const machine: UserSchema = {
  id: "machine",
  type: "machine",
  revision: 1,
  state: "active",
  possibleAuthenticators: ["USERNAME", "PUBLIC_KEY"],
  schema: {
    $schema: draft,
    title: "Machine",
    type: "object",
    additionalProperties: false,
    "urn:idsvc:schema:permission": { owner: "rw", self: "r" },
    properties: {
      name: name("Name"),
      description: lines("Description", 500),
      access_token_type: {
        title: "What its access tokens are: opaque (bearer, also where it is absent) or JWTs",
        type: "string",
        enum: ["bearer", "jwt"],
      },
    },
  },
};

/** The schemas that every instance has, that cannot be changed, and whose ids are their types (specification 10.4). */
export const builtInSchemas: ReadonlyMap<string, UserSchema> = new Map([
  [human.id, human],
  [machine.id, machine],
]);
