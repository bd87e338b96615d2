import type { JsonObject } from "@bufbuild/protobuf";
import { TOTP } from "otpauth";
import { addPersonNamed, password } from "../support/login.ts";
import { settingsPath } from "../support/login-pages.ts";
import type { OidcPeer } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";

/** Codes of an authenticator app. Each counts once: every next one is of another half minute. */
export function codesOf(peer: OidcPeer, secret: string): () => string {
  const totp = new TOTP({ secret });
  return () => {
    peer.pass(31_000);
    return totp.generate({ timestamp: peer.now().getTime() });
  };
}

/** A person with an authenticator app. */
export async function personWithTotp(peer: OidcPeer, more: JsonObject = {}) {
  const person = await addPersonNamed(peer, more);
  const started = bodyOf(await peer.post(`/users/${person.id}/totp`));
  const next = codesOf(peer, started.secret);
  bodyOf(await peer.post(`/users/${person.id}/totp/${started.totp_id}/_verify`, next()));
  return { ...person, next };
}

/** The login name of somebody of an organization that demands a second factor, which they do not have. */
export async function personWhoMustSetUp(peer: OidcPeer): Promise<string> {
  const domain = `${uniqueName("strict").replace(" ", "")}.test`;
  const organization = await peer.addOrganization({ domain });
  const owner = await peer.addMember(organization, ["ORG_OWNER"]);
  const headers = { "x-idsvc-orgid": organization };
  const person = {
    username: "dora",
    data: { given_name: "Dora", family_name: "Maar" },
    authenticators: { password: { password } },
  };
  bodyOf(await peer.post("/users", person, { headers, token: owner.token }), 201);
  const path = `${settingsPath}/login?ctx.org_id=${organization}`;
  const { token } = peer.app;
  bodyOf(await peer.peer.rest("PATCH", path, { force_mfa: { set: true } }, { token }));
  return `dora@${domain}`;
}
