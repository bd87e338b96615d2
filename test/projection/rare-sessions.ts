import type { JsonObject } from "@bufbuild/protobuf";
import { Secret, TOTP } from "otpauth";
import type { World } from "../api/samples/sample.ts";
import { Authenticator } from "../support/authenticator.ts";

const domain = "localhost";
const password = "correct horse battery staple";

/** Makes the events of a session in which everything is asked and checked. */
export async function rareSessions(
  { create, make, name }: World,
  patch: (path: string, body: JsonObject) => Promise<unknown>,
) {
  const id = await make("/users", {
    username: name(),
    data: {},
    authenticators: { password: { password } },
  });
  const { secret, totp_id } = Object(await create(`/users/${id}/totp`));
  const app = new TOTP({ secret: Secret.fromBase32(secret) });
  const code = (shiftMs = 0) => app.generate({ timestamp: Date.now() + shiftMs });
  await create(`/users/${id}/totp/${totp_id}/_verify`, code());
  await create(`/users/${id}/otp_sms`, { number: "+41790000000", is_verified: true });
  await create(`/users/${id}/otp_email`, { address: "sample@example.com", is_verified: true });
  const { recovery_codes: codes } = Object(await create(`/users/${id}/recovery_codes`));
  const authenticator = new Authenticator();
  const { web_auth_n_id, public_key_credential_creation_options: wanted } = Object(
    await create(`/users/${id}/webauthn`, { domain }),
  );
  const credential = { public_key_credential: authenticator.create(wanted), web_auth_n_name: "k" };
  await create(`/users/${id}/webauthn/${web_auth_n_id}/_verify`, credential);

  const user_agent = { fingerprint_id: "f", ip: "192.0.2.1", description: "d" };
  const metadata = { colour: "cmVk" };
  const asked = Object(
    await create("/sessions", {
      checks: { user: { user_id: id } },
      user_agent,
      metadata,
      lifetime: "600s",
      challenges: {
        web_auth_n: { domain },
        otp_sms: { return_code: true },
        otp_email: { return_code: {} },
      },
    }),
  );
  const { web_auth_n, otp_sms, otp_email } = asked.challenges;
  const options: JsonObject = web_auth_n.public_key_credential_request_options;
  await patch(`/sessions/${asked.session_id}`, {
    checks: {
      password: { password },
      web_auth_n: { credential_assertion_data: authenticator.get(options) },
      // The step of the registration has counted: one that is about to come counts too.
      totp: { code: code(30_000) },
      otp_sms: { code: otp_sms },
      otp_email: { code: otp_email },
      recovery_code: { code: codes[0] },
    },
    metadata: { colour: "" },
  });
}
