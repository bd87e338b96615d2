import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { Authenticator, type Manner } from "../../support/authenticator.ts";
import { bodyOf } from "../../support/peer.ts";
import type { UserPeer } from "./user-peer.ts";

export const domain = "localhost";
export const page = { origin: "http://localhost:3000" };
export const local: Manner = { page };
export const invalid = {
  code: 3,
  reason: "WEB_AUTH_N_INVALID",
  field: "verify.public_key_credential",
};
export const wrong = { isRight: false };

/** Registers authenticators and logs in by them, as browsers and login clients do. */
export function webAuthNCalls({ post, checks, at, deps, addPerson }: UserPeer) {
  const start = (id: string, more: JsonObject = {}, options = {}) =>
    post(`/users/${id}/webauthn`, { domain, ...more }, options);

  async function begin(id: string, more: JsonObject = {}) {
    const begun = bodyOf(await start(id, more));
    const options: JsonObject = begun.public_key_credential_creation_options;
    const webAuthNId = String(begun.web_auth_n_id);
    const verify = (credential: JsonObject, call = {}) =>
      post(
        `/users/${id}/webauthn/${webAuthNId}/_verify`,
        { public_key_credential: credential, web_auth_n_name: "My key" },
        call,
      );
    return { options, webAuthNId, verify };
  }

  /** A person with a registered authenticator. */
  async function registered(authenticator = new Authenticator(), manner: Manner = {}) {
    const id = await addPerson();
    const { options, webAuthNId, verify } = await begin(id);
    bodyOf(await verify(authenticator.create(options, { ...local, ...manner })));
    return { id, authenticator, webAuthNId };
  }

  const challenge = (
    userId: string,
    userVerification: "required" | "preferred" = "required",
    asked = domain,
  ) =>
    deps.events.transact(at, (tx) =>
      checks.webAuthN.challenge(
        tx,
        { instanceId: at.instanceId, userId },
        { domain: asked, field: "domain", userVerification },
      ),
    );

  async function login(id: string, authenticator: Authenticator, manner: Manner = {}) {
    const asked = await challenge(id);
    assert.ok(asked !== undefined);
    const credential = authenticator.get(asked.options, { ...local, ...manner });
    return checks.webAuthN.check(at, id, { challengeId: asked.challengeId, credential });
  }

  return { start, begin, registered, challenge, login };
}
