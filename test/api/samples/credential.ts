import type { JsonObject } from "@bufbuild/protobuf";
import { Secret, TOTP } from "otpauth";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { Authenticator } from "../../support/authenticator.ts";
import { ofService, type Sample, tooLong, type World } from "./sample.ts";
import { newUser } from "./user.ts";

const reason = "USER_NOT_FOUND";
const stranger = { code: 5, reason };
const password = "correct horse battery staple";

/** A call about a user: `make` says what else a right request holds, once there is the user. */
const of = (
  make: (world: World, id: string) => Promise<JsonObject> | JsonObject,
  unknown: JsonObject,
  [field, invalid]: [field: string, request: JsonObject],
  newOne: (world: World) => Promise<string> = newUser,
): Sample => ({
  valid: async (world) => {
    const id = await newOne(world);
    return { id, ...(await make(world, id)) };
  },
  invalid: { request: { id: "1", ...invalid }, field },
  unknown: { request: { id: "404", ...unknown }, reason },
  writes: true,
  stranger,
});
const nothing = () => ({});
const byId: [string, JsonObject] = ["id", { id: tooLong }];

const newMachine = ({ make, name }: World) =>
  make("/users", { username: name(), schema_id: "machine", data: { name: "Robot" } });
const newPerson = ({ make, name }: World) =>
  make("/users", {
    username: name(),
    data: { given_name: "Ada" },
    authenticators: { password: { password } },
  });
// Options for the browser tell the name of the user, so it is always the same one.
let registrar: Promise<string> | undefined;
const oneUser = (world: World) => (registrar ??= newUser(world));

const startWebAuthN = (world: World, id: string) =>
  world.create(`/users/${id}/webauthn`, { domain: "localhost" });
async function begunWebAuthN(world: World, id: string) {
  const begun = Object(await startWebAuthN(world, id));
  const options = begun.public_key_credential_creation_options;
  const credential = new Authenticator().create(options);
  const verify = { public_key_credential: credential, web_auth_n_name: "key" };
  return { web_auth_n_id: String(begun.web_auth_n_id), verify };
}
async function webAuthN(world: World, id: string) {
  const { web_auth_n_id, verify } = await begunWebAuthN(world, id);
  await world.create(`/users/${id}/webauthn/${web_auth_n_id}/_verify`, verify);
  return { web_auth_n_id };
}
async function begunTotp({ create }: World, id: string) {
  const { totp_id, secret } = Object(await create(`/users/${id}/totp`));
  const app = new TOTP({ secret: Secret.fromBase32(String(secret)) });
  return { totp_id: String(totp_id), code: app.generate() };
}
const phone = { number: "+41790000000", return_code: {} };
const email = { address: "sample@example.com", return_code: {} };
async function begunOtp({ create }: World, id: string, path: "otp_sms" | "otp_email") {
  const made = Object(await create(`/users/${id}/${path}`, path === "otp_sms" ? phone : email));
  return { [`${path}_id`]: String(made[`${path}_id`]), code: String(made.code) };
}
async function otp(world: World, id: string, path: "otp_sms" | "otp_email") {
  const { code: _, ...made } = await begunOtp(world, id, path);
  return made;
}
const made = async ({ create }: World, path: string, name: string) => ({
  [name]: String(Object(await create(path, {}))[name]),
});

export const credentialSamples: Record<string, Sample> = ofService(UserService.typeName, {
  SetPassword: of(() => ({ new_password: { password } }), { new_password: { password } }, [
    "new_password.password",
    { new_password: { password: "" } },
  ]),
  RequestPasswordReset: of(() => ({ medium: { return_code: {} } }), {}, byId),
  RemovePassword: of(nothing, {}, byId, newPerson),
  StartWebAuthNRegistration: of(
    () => ({ registration: { domain: "localhost" } }),
    { registration: { domain: "localhost" } },
    ["registration.domain", { registration: { domain: "" } }],
    oneUser,
  ),
  VerifyWebAuthNRegistration: of(
    begunWebAuthN,
    { web_auth_n_id: "1", verify: { public_key_credential: {}, web_auth_n_name: "x" } },
    [
      "verify.web_auth_n_name",
      { web_auth_n_id: "1", verify: { public_key_credential: {}, web_auth_n_name: "" } },
    ],
  ),
  CreateWebAuthNRegistrationLink: of(() => ({ delivery: { return_code: {} } }), {}, byId),
  RenameWebAuthNAuthenticator: of(
    async (world, id) => ({ ...(await webAuthN(world, id)), web_auth_n_name: "another name" }),
    { web_auth_n_id: "1", web_auth_n_name: "x" },
    ["web_auth_n_name", { web_auth_n_id: "1", web_auth_n_name: "" }],
  ),
  RemoveWebAuthNAuthenticator: of(webAuthN, { web_auth_n_id: "1" }, [
    "web_auth_n_id",
    { web_auth_n_id: tooLong },
  ]),
  StartTOTPRegistration: of(nothing, {}, byId),
  VerifyTOTPRegistration: of(begunTotp, { totp_id: "1", code: "1" }, [
    "code",
    { totp_id: "1", code: "" },
  ]),
  RemoveTOTPAuthenticator: of(
    async (world, id) => ({ totp_id: (await begunTotp(world, id)).totp_id }),
    { totp_id: "1" },
    ["totp_id", { totp_id: tooLong }],
  ),
  AddOTPSMSAuthenticator: of(() => ({ phone }), { phone }, [
    "phone.number",
    { phone: { number: "1" } },
  ]),
  VerifyOTPSMSRegistration: of(
    (world, id) => begunOtp(world, id, "otp_sms"),
    { otp_sms_id: "1", code: "1" },
    ["code", { otp_sms_id: "1", code: "" }],
  ),
  RemoveOTPSMSAuthenticator: of((world, id) => otp(world, id, "otp_sms"), { otp_sms_id: "1" }, [
    "otp_sms_id",
    { otp_sms_id: tooLong },
  ]),
  AddOTPEmailAuthenticator: of(() => ({ email }), { email }, [
    "email.address",
    { email: { address: "x" } },
  ]),
  VerifyOTPEmailRegistration: of(
    (world, id) => begunOtp(world, id, "otp_email"),
    { otp_email_id: "1", code: "1" },
    ["code", { otp_email_id: "1", code: "" }],
  ),
  RemoveOTPEmailAuthenticator: of(
    (world, id) => otp(world, id, "otp_email"),
    { otp_email_id: "1" },
    ["otp_email_id", { otp_email_id: tooLong }],
  ),
  GenerateRecoveryCodes: of(nothing, {}, byId),
  RemoveRecoveryCodes: of(
    async ({ act }, id) => {
      await act(`/users/${id}/recovery_codes`);
      return {};
    },
    {},
    byId,
  ),
  AddPersonalAccessToken: of(nothing, {}, byId, newMachine),
  RemovePersonalAccessToken: of(
    (world, id) => made(world, `/users/${id}/personal_access_tokens`, "token_id"),
    { token_id: "1" },
    ["token_id", { token_id: tooLong }],
    newMachine,
  ),
  AddPublicKey: of(
    nothing,
    {},
    ["key.public_key", { key: { public_key: "x".repeat(4_049) } }],
    newMachine,
  ),
  RemovePublicKey: of(
    (world, id) => made(world, `/users/${id}/public_keys`, "key_id"),
    { key_id: "1" },
    ["key_id", { key_id: tooLong }],
    newMachine,
  ),
  SetSecret: of(nothing, {}, byId, newMachine),
  RemoveSecret: of(
    async ({ act }, id) => {
      await act(`/users/${id}/secret`);
      return {};
    },
    {},
    byId,
    newMachine,
  ),
});
