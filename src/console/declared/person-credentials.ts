import type { JsonObject } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { type Action, at, type Path, type Rows, textAt } from "./declare.ts";
import { newKey } from "./shared.ts";

const user = UserService.method;

export const isMachine = (object: JsonObject): boolean =>
  textAt(object, "user.schema.type") === "machine";
export const isPerson = (object: JsonObject): boolean => !isMachine(object);

const page = { id: { page: "details.id" } } as const;
const has = (path: Path) => (object: JsonObject) => {
  const value = at(object, path);
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
};
const inside = (name: string) => `user.authenticators.${name}`;
const removing = (method: Action["method"], given: Action["given"] = {}): readonly Action[] => [
  { word: "remove", method, given: { ...page, ...given }, isDangerous: true },
];
const code = [{ path: "code", word: "codeWord" }] as const;
const rowDates = [
  { path: "creation_date" },
  { path: "expiration_date" },
  { path: "last_use_date" },
  { path: "creator_id", word: "maker", as: "person" },
] as const;

const password: Rows = {
  word: "password",
  tab: "credentials",
  path: inside("password"),
  when: isPerson,
  columns: [{ path: "last_changed" }, { path: "change_required" }],
  add: [
    {
      word: "setPassword",
      method: user.setPassword,
      given: page,
      fields: [
        { path: "new_password.password", as: "password", isRequired: true },
        { path: "new_password.change_required", initial: { is: true } },
      ],
    },
    {
      word: "sendReset",
      method: user.requestPasswordReset,
      given: page,
      fields: [
        {
          word: "delivery",
          ways: [
            { word: "byEmail", given: { "medium.send_email": { is: {} } } },
            { word: "bySms", given: { "medium.send_sms": { is: {} } } },
            { word: "showCode", given: { "medium.return_code": { is: {} } } },
          ],
        },
      ],
      once: [{ path: "verification_code" }],
    },
  ],
  actions: removing(user.removePassword),
};

const passkeys: Rows = {
  word: "passkeys",
  tab: "credentials",
  path: inside("web_auth_n"),
  when: isPerson,
  columns: [
    { path: "name" },
    { path: "is_verified" },
    { path: "creation_date" },
    { path: "last_use_date" },
  ],
  add: [
    {
      word: "invitePasskey",
      method: user.createWebAuthNRegistrationLink,
      given: page,
      fields: [
        {
          word: "delivery",
          ways: [
            { word: "byEmail", given: { "delivery.send_link": { is: {} } } },
            { word: "showCode", given: { "delivery.return_code": { is: {} } } },
          ],
        },
      ],
      once: [
        { path: "code.id", word: "id" },
        { path: "code.code", word: "codeWord" },
      ],
    },
  ],
  actions: [
    {
      word: "rename",
      method: user.renameWebAuthNAuthenticator,
      given: { ...page, web_auth_n_id: { of: "web_auth_n_id" } },
      fields: [{ path: "web_auth_n_name", word: "name", initial: { of: "name" } }],
    },
    ...removing(user.removeWebAuthNAuthenticator, { web_auth_n_id: { of: "web_auth_n_id" } }),
  ],
};

const totp: Rows = {
  word: "totp",
  tab: "credentials",
  path: inside("totps"),
  when: isPerson,
  columns: [{ path: "totp_id", word: "id", as: "code" }, { path: "is_verified" }],
  add: [
    {
      word: "addTotp",
      method: user.startTOTPRegistration,
      given: page,
      once: [{ path: "secret" }, { path: "uri" }],
      next: {
        word: "enterCode",
        method: user.verifyTOTPRegistration,
        given: { ...page, totp_id: { answer: "totp_id" } },
        fields: code,
      },
    },
  ],
  actions: removing(user.removeTOTPAuthenticator, { totp_id: { of: "totp_id" } }),
};

const smsCodes: Rows = {
  word: "smsCodes",
  tab: "credentials",
  path: inside("otp_sms"),
  when: isPerson,
  columns: [{ path: "phone", word: "phone" }, { path: "is_verified" }],
  add: [
    {
      word: "addSmsCodes",
      method: user.addOTPSMSAuthenticator,
      given: page,
      fields: [{ path: "phone.number", word: "phone" }],
      next: {
        word: "enterCode",
        method: user.verifyOTPSMSRegistration,
        given: { ...page, otp_sms_id: { answer: "otp_sms_id" } },
        fields: code,
      },
    },
  ],
  actions: removing(user.removeOTPSMSAuthenticator, { otp_sms_id: { of: "otp_sms_id" } }),
};

const emailCodes: Rows = {
  word: "emailCodes",
  tab: "credentials",
  path: inside("otp_email"),
  when: isPerson,
  columns: [{ path: "address", word: "email" }, { path: "is_verified" }],
  add: [
    {
      word: "addEmailCodes",
      method: user.addOTPEmailAuthenticator,
      given: page,
      fields: [{ path: "email.address", word: "email" }],
      next: {
        word: "enterCode",
        method: user.verifyOTPEmailRegistration,
        given: { ...page, otp_email_id: { answer: "otp_email_id" } },
        fields: code,
      },
    },
  ],
  actions: removing(user.removeOTPEmailAuthenticator, { otp_email_id: { of: "otp_email_id" } }),
};

const recoveryCodes: Rows = {
  word: "recoveryCodes",
  tab: "credentials",
  path: inside("recovery_codes"),
  when: isPerson,
  columns: [{ path: "remaining" }],
  add: [
    {
      word: "makeRecoveryCodes",
      method: user.generateRecoveryCodes,
      given: page,
      once: [{ path: "recovery_codes", word: "recoveryCodes" }],
    },
  ],
  actions: removing(user.removeRecoveryCodes),
};

const linked: Rows = {
  word: "linkedProviders",
  tab: "credentials",
  when: isPerson,
  search: {
    method: user.searchIDPAuthenticators,
    request: (object) => ({ id: textAt(object, "details.id") }),
  },
  columns: [
    { path: "username" },
    { path: "idp_id", word: "provider", as: "provider" },
    { path: "user_id", word: "idThere", as: "code" },
    { path: "suspended" },
    { path: "creation_date" },
  ],
  add: [
    {
      word: "linkProvider",
      method: user.addIDPAuthenticator,
      given: page,
      fields: [
        { path: "authenticator.link.idp_id", word: "provider" },
        { path: "authenticator.link.user_id", word: "idThere" },
        { path: "authenticator.link.username", word: "username" },
      ],
    },
  ],
  actions: removing(user.removeIDPAuthenticator, { idp_id: { of: "idp_id" } }),
};

const secret: Rows = {
  word: "secret",
  tab: "credentials",
  path: inside("secret"),
  when: isMachine,
  columns: [
    { path: "client_id", as: "code" },
    { path: "creation_date" },
    { path: "last_use_date" },
    { path: "creator_id", word: "maker", as: "person" },
  ],
  add: [
    {
      word: "makeSecret",
      method: user.setSecret,
      given: page,
      // Another one takes its place: whoever uses it stops to work.
      isDangerous: true,
      when: has(inside("secret")),
      once: [{ path: "client_id", isKept: true }, { path: "client_secret" }],
    },
    {
      word: "makeFirstSecret",
      method: user.setSecret,
      given: page,
      when: (object) => !has(inside("secret"))(object),
      once: [{ path: "client_id", isKept: true }, { path: "client_secret" }],
    },
  ],
  actions: removing(user.removeSecret),
};

const keys: Rows = {
  word: "keys",
  tab: "credentials",
  path: inside("public_keys"),
  when: isMachine,
  columns: [{ path: "key_id", word: "id", as: "code" }, ...rowDates],
  add: [
    {
      word: "addKey",
      method: user.addPublicKey,
      given: page,
      ...newKey,
    },
  ],
  actions: removing(user.removePublicKey, { key_id: { of: "key_id" } }),
};

const tokens: Rows = {
  word: "tokens",
  tab: "credentials",
  path: inside("personal_access_tokens"),
  columns: [{ path: "token_id", word: "id", as: "code" }, ...rowDates],
  add: [
    {
      // People make their own, on the pages of their account.
      word: "addToken",
      method: user.addPersonalAccessToken,
      given: page,
      when: isMachine,
      fields: [{ path: "personal_access_token.expiration_date" }],
      once: [{ path: "token" }],
    },
  ],
  actions: removing(user.removePersonalAccessToken, { token_id: { of: "token_id" } }),
};

/** What a user logs in with: people by factors, machines by a secret, keys and tokens. */
export const credentials: readonly Rows[] = [
  password,
  passkeys,
  totp,
  smsCodes,
  emailCodes,
  recoveryCodes,
  linked,
  secret,
  keys,
  tokens,
];
