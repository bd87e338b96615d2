import { randomInt } from "node:crypto";
import {
  assertionUsed,
  authenticateClient,
  invalidClient,
  readCredentials,
} from "./client-auth/index.ts";
import type { Endpoint } from "./endpoint.ts";
import { OAuthError } from "./errors.ts";
import { readForm } from "./form.ts";
import { json } from "./http.ts";
import { grantedScope } from "./issue.ts";
import { deviceAuthorizationPath, devicePagePath } from "./paths.ts";
import { readScope } from "./scope.ts";
import type { TokenParts } from "./token/grant.ts";

const lifeMs = 5 * 60_000;
const intervalMs = 5_000;
const attempts = 5;

// No vowels, so no words; nothing that is easily taken for something else (RFC 8628 section 6.1).
const letters = "BCDFGHJKLMNPQRSTVWXZ";
const codeLength = 8;

/** The device authorization endpoint (RFC 8628 section 3.1). */
export const deviceAuthorizationEndpoint = (parts: TokenParts): Endpoint => ({
  metadata: "device_authorization_endpoint",
  path: deviceAuthorizationPath,
  budget: "flows",
  methods: ["POST"],
  caller: "client",
  crossOrigin: "none",
  isChange: true,
  async handle(request, at) {
    const form = await readForm(request);
    const credentials = readCredentials(request, form);
    const { client, hasProven, spend } = await authenticateClient(parts, at, credentials);
    const { clientId } = client;
    if (!client.grantTypes.includes("device_code")) {
      const description = "the client has no grant for devices";
      throw new OAuthError("unauthorized_client", description, { clientId, hasProven });
    }
    const scope = grantedScope(client, readScope(form.get("scope") ?? "openid"));
    for (const assertion of spend) {
      if (await parts.tokens.spend(at, assertion)) continue;
      throw invalidClient(false, { client, clientId, detail: assertionUsed });
    }
    const deviceCode = parts.newSecret("device_code");
    const expiresAt = new Date(parts.now().getTime() + lifeMs);
    const wanted = { deviceCode, clientId: client.clientId, scope, expiresAt, intervalMs };
    for (let attempt = 0; attempt < attempts; attempt++) {
      const userCode = newUserCode();
      if (!(await parts.devices.begin(at, { ...wanted, userCode }))) continue;
      const shown = shownUserCode(userCode);
      const page = `${at.issuer}${devicePagePath}`;
      return json(200, {
        device_code: deviceCode,
        user_code: shown,
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${shown}`,
        expires_in: lifeMs / 1000,
        interval: intervalMs / 1000,
      });
    }
    throw new OAuthError("temporarily_unavailable", "no user code is free: try again", {
      status: 503,
    });
  },
});

const newUserCode = (): string =>
  Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]).join("");

/** A user code as people read it. */
export const shownUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** A user code without what people write it with, however a person typed it; undefined where it can be none. */
export function readUserCode(typed: string): string | undefined {
  const code = typed.toUpperCase().replace(/[^A-Z]/g, "");
  const isOne = code.length === codeLength && [...code].every((each) => letters.includes(each));
  return isOne ? code : undefined;
}
