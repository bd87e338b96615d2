import type { UserDeps } from "../../src/resources/user/index.ts";
import type { JsonObject } from "@bufbuild/protobuf";
import { Secret, TOTP } from "otpauth";
import { ownerWarning, ownerWarningEvents } from "../../src/resources/membership/owner-warnings.ts";
import {
  addRecoveryLink,
  recoveryLinks,
  user as userStream,
  userChecks,
  userEvents,
} from "../../src/resources/user/index.ts";
import type { World } from "../api/samples/sample.ts";
import { Authenticator } from "../support/authenticator.ts";

const domain = "localhost";

/** Makes the events of checks, for which there is no call, and those of a security key. */
export async function rareChecks(
  deps: UserDeps,
  { create, make, name, instanceId }: World,
  remove: (path: string) => Promise<unknown>,
) {
  const checks = userChecks(deps);
  const at = { instanceId, editorId: "test", service: "test", clientId: "", requestId: "test" };
  const hash = "$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2";
  const person = { username: name(), data: {}, authenticators: { password: { hash } } };
  const id = await make("/users", person);
  const user = { instanceId, userId: id };
  for (const password of ["wrong", "correct horse"]) await checks.password(at, id, password);

  await deps.events.transact(at, async (tx) => {
    const demanded = userEvents["human.mfa.setup.demanded"]({});
    tx.record(userStream, await tx.load(userStream, id), [demanded]);
  });

  const lost = await make("/users", { ...person, username: name() });
  const { code: ofLink } = await deps.events.transact(at, (tx) =>
    addRecoveryLink(deps, tx, { instanceId, userId: lost }),
  );
  const link = { userId: lost, code: ofLink, password: "Correct horse 4 battery!" };
  await recoveryLinks(deps).follow(at, link);

  await deps.events.transact(at, async (tx) => {
    const loaded = await tx.load(ownerWarning, instanceId);
    const warned = { days: 30, endsAt: "2030-01-01T00:00:00.000Z" };
    const owner = { type: "instance", id: instanceId } as const;
    tx.record(ownerWarning, loaded, [ownerWarningEvents["owners.warned"](warned)], owner);
  });

  const begun = Object(await create(`/users/${id}/totp`));
  const app = new TOTP({ secret: Secret.fromBase32(String(begun.secret)) });
  await create(`/users/${id}/totp/${String(begun.totp_id)}/_verify`, app.generate());
  await checks.totp(at, id, "wrong");

  await create(`/users/${id}/otp_sms`, { number: "+41790000000", is_verified: true });
  await create(`/users/${id}/otp_email`, { address: "sample@example.com", is_verified: true });
  for (const channel of ["sms", "email"] as const) {
    const issued = await deps.events.transact(at, (tx) =>
      checks.otp.issue(tx, user, channel, "returned"),
    );
    for (const code of ["wrong", issued?.code ?? ""])
      await checks.otp.check(at, id, { channel, code });
  }

  const { recovery_codes: codes } = Object(await create(`/users/${id}/recovery_codes`));
  for (const code of ["wrong", codes[0]]) await checks.recoveryCode(at, id, code);

  for (const isVerified of [true, false]) {
    const authenticator = new Authenticator();
    const { web_auth_n_id, public_key_credential_creation_options: wanted } = Object(
      await create(`/users/${id}/webauthn`, { domain }),
    );
    const credential = authenticator.create(wanted, { isVerified });
    const verify = { public_key_credential: credential, web_auth_n_name: "key" };
    await create(`/users/${id}/webauthn/${web_auth_n_id}/_verify`, verify);
    for (const rpId of ["example.com", domain]) {
      const asked = await deps.events.transact(at, (tx) =>
        checks.webAuthN.challenge(tx, user, {
          domain,
          field: "domain",
          userVerification: "preferred",
        }),
      );
      const options: JsonObject = asked?.options ?? {};
      const page = { origin: `https://${domain}` };
      const answer = authenticator.get(options, { page, rpId, isVerified });
      const { challengeId = "" } = asked ?? {};
      await checks.webAuthN.check(at, id, { challengeId, credential: answer });
    }
    const renamed = { web_auth_n_name: "another name" };
    await create(`/users/${id}/webauthn/${web_auth_n_id}/_rename`, renamed);
    await remove(`/users/${id}/webauthn/${web_auth_n_id}`);
  }
  await deps.events.transact(at, async (tx) => {
    const made = { webAuthNId: "prepared", name: "key", credentialId: "cHJlcGFyZWQ" };
    const key = { publicKey: "a2V5", transports: ["internal"], signCount: 0, rpId: domain };
    tx.record(userStream, await tx.load(userStream, id), [
      userEvents["human.passwordless.token.prepared"]({ ...made, ...key }),
      userEvents["human.passwordless.token.confirmed"]({ webAuthNId: made.webAuthNId }),
    ]);
  });
}
