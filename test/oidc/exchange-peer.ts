import assert from "node:assert/strict";
import { basic, type MadeClient, paths, startOidc } from "../support/oidc.ts";

const type = (name: string) => `urn:ietf:params:oauth:token-type:${name}`;
const grant_type = "urn:ietf:params:oauth:grant-type:token-exchange";

/** A service that exchanges tokens, with a client that may ask for it and a user. */
export async function startExchange() {
  const service = await startOidc({ env: { IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE: "true" } });
  const { addClient, addPerson, post } = service;
  const web = await addClient({
    auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC",
    grant_types: [
      "OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
      "OIDC_GRANT_TYPE_REFRESH_TOKEN",
      "OIDC_GRANT_TYPE_TOKEN_EXCHANGE",
    ],
  });
  return {
    service,
    web,
    type,
    grant_type,
    user: await addPerson(),
    subjectOf: (subject_token: string, kind = "access_token") => ({
      subject_token,
      subject_token_type: type(kind),
      scope: "openid",
    }),
    actorOf: (actor_token: string, kind = "access_token") => ({
      actor_token,
      actor_token_type: type(kind),
    }),
    ask: (form: Record<string, string>, by: MadeClient = web) =>
      service.send(paths.token, { grant_type, ...form }, basic(by)),

    async allowImpersonation(): Promise<void> {
      const settings = { enable_impersonation: { set: true } };
      const { token } = service.app;
      const path = "/settings/v3alpha/security";
      const set = await service.peer.rest("PATCH", path, settings, { token });
      assert.equal(set.status, 200, set.refusal?.message);
    },
    async addImpersonator(role = "ORG_END_USER_IMPERSONATOR"): Promise<string> {
      const id = await addPerson();
      const ctx = { org_id: service.app.made.organization_id };
      const made = await post("/memberships", { ctx, user_id: id, roles: [role] });
      assert.equal(made.status, 201, made.refusal?.message);
      return id;
    },
  };
}
