import { invalidGrant, OAuthError } from "../../errors.ts";
import { required } from "../../form.ts";
import { formOf, issueTokens } from "../../issue.ts";
import { type Grant, newer } from "../grant.ts";
import { activeUser, fieldsOf } from "../outcome.ts";

/** RFC 8628 section 3.4: a device asks until somebody has let it in, or not. */
export const deviceCode: Grant = {
  name: "urn:ietf:params:oauth:grant-type:device_code",
  appGrant: "device_code",
  async handle(parts, { form, at, client, spend }) {
    const value = required(form, "device_code");
    const request = await parts.devices.poll(at, value);
    if (request === undefined || request.clientId !== client.clientId) {
      const detail =
        request === undefined
          ? `the device code is unknown${newer(parts, value)}`
          : "the device code was issued to another client";
      throw invalidGrant("the device code is unknown, or was issued to another client", detail);
    }
    const { state, grant, expiresAt, tooSoon } = request;
    if (state === "done") throw invalidGrant("the device code was used before");
    if (expiresAt <= parts.now()) {
      throw new OAuthError("expired_token", "the device code has expired: begin again");
    }
    if (state === "denied") throw new OAuthError("access_denied", "the device was not let in");
    if (grant === undefined) {
      throw tooSoon
        ? new OAuthError("slow_down", "wait five seconds longer between two requests")
        : new OAuthError("authorization_pending", "nobody has let the device in yet");
    }
    const user = await activeUser(parts, at, client, grant.userId);
    const { scope, audience, access } = grant;
    return fieldsOf(
      await issueTokens(parts, at, {
        user,
        client,
        clientId: client.clientId,
        scope,
        audience,
        access,
        session: { open: grant },
        accessToken: formOf(client),
        idToken: scope.includes("openid"),
        refreshToken: scope.includes("offline_access"),
        spend: [...spend, { kind: "device_code", digest: request.digest, requestId: request.id }],
      }),
    );
  },
};
