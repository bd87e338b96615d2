import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { idpConfigs } from "../api/samples/idp.ts";
import { bodyOf, type ResourcePeer } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";

/** Something of each kind that the console shows. */
export type ConsoleWorld = {
  organizationId: string;
  partnerId: string;
  projectId: string;
  grantId: string;
  userId: string;
  machineId: string;
  /** By the path of their page, the IDs of objects. */
  objects: Readonly<Record<string, readonly string[]>>;
};

type Parts = Pick<ResourcePeer, "post" | "put" | "patch" | "peer"> & {
  app: Pick<ResourcePeer["app"], "made" | "token">;
};

/**
 * Makes an organization with something of each kind in it, and what stands beside it in the instance.
 *
 * @param name what something is called, and what is told of it: whatever a tenant may choose
 */
export async function makeConsoleWorld(
  { post, put, patch, peer, app }: Parts,
  name: (kind: string) => string,
): Promise<ConsoleWorld> {
  const make = async (path: string, body: JsonValue, within?: string): Promise<string> => {
    const headers: Record<string, string> = within === undefined ? {} : { "x-idsvc-orgid": within };
    return String(bodyOf(await post(path, body, { headers }), 201).details.id);
  };
  const settings = async (path: string, body: JsonValue, within: string) =>
    bodyOf(
      await peer.rest("PATCH", `/settings/v3alpha${path}?ctx.org_id=${within}`, body, {
        token: app.token,
      }),
    );

  const organizationId = await make("/organizations", { name: name("organization") });
  const partnerId = await make("/organizations", { name: name("partner") });
  const at = `?ctx.org_id=${organizationId}`;
  await make(`/domains${at}`, { name: "zoo.test", validation_type: "DOMAIN_VALIDATION_TYPE_DNS" });

  const person = {
    username: name("username"),
    data: {
      given_name: name("given name"),
      family_name: name("family name"),
      display_name: name("display name"),
      nickname: name("nickname"),
    },
    contact: {
      email: { address: "zoo@zoo.test", is_verified: true },
      phone: { number: "+15550177", is_verified: true },
    },
    authenticators: { password: { password: "correct-Horse-9-battery" } },
  };
  const userId = await make(`/users${at}`, person);
  bodyOf(await put(`/users/${userId}/metadata/${encodeURIComponent("zoo")}`, metadata(name)));
  bodyOf(await post(`/users/${userId}/otp_sms`, { number: "+15550178", is_verified: true }));
  const machine = {
    username: name("machine"),
    schema_id: "machine",
    data: { name: name("machine name"), description: name("machine description") },
  };
  const machineId = await make(`/users${at}`, machine);
  bodyOf(await post(`/users/${machineId}/public_keys`, {}));
  bodyOf(await post(`/users/${machineId}/personal_access_tokens`, {}));

  const projectId = await make(`/projects${at}`, { name: name("project") });
  const role = { key: name("role key"), display_name: name("role"), group: name("role group") };
  await make("/project_roles", { project_id: projectId, ...role });
  const oidc = {
    redirect_uris: ["https://zoo.test/cb"],
    app_type: "OIDC_APP_TYPE_WEB",
    response_types: ["OIDC_RESPONSE_TYPE_CODE"],
    grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"],
    auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC",
  };
  const apps = [
    await make("/apps", { name: name("app"), project_id: projectId, oidc }),
    await make("/apps", { name: name("api"), project_id: projectId, api: {} }),
  ];
  const granted = { project_id: projectId, role_keys: [role.key] };
  const grantId = await make("/project_grants", { ...granted, granted_organization_id: partnerId });
  await make("/user_grants", { ...granted, user_id: userId });
  const roles = ["ORG_USER_MANAGER"];
  await make("/memberships", { ctx: { org_id: organizationId }, user_id: machineId, roles });

  const targetId = await make("/targets", {
    name: name("target"),
    rest_webhook: { url: "http://127.0.0.1:9999/hook" },
    timeout: "1s",
  });
  const condition = { event: { group: "execution" } };
  await make("/executions", { condition, targets: [targetId] });
  const providers: [type: string, id: string][] = [];
  for (const [type, { config }] of Object.entries(idpConfigs)) {
    const named = "client_id" in config ? { ...config, client_id: name("client") } : config;
    const id = await make(`/idps/${type}`, { idp: { name: name("provider") }, config: named });
    providers.push([`/providers/${type}/$id`, id]);
  }
  const [, providerId = ""] = providers.find(([path]) => path === "/providers/oidc/$id") ?? [];
  const decision = { idp: { state_policy: "STATE_POLICY_ACTIVATE" } };
  bodyOf(await patch(`/idps/oidc/${providerId}?ctx.org_id=${partnerId}`, decision));
  const ofOrganization = { issuer: "https://provider.test", client_id: name("client") };
  await make(`/idps/oidc${at}`, {
    idp: { name: name("provider") },
    config: { ...ofOrganization, client_secret: "a secret" },
  });
  const mailId = await make("/smtp_providers", {
    description: name("mail provider"),
    sender_address: "zoo@zoo.test",
    sender_name: name("sender"),
    host: "mail.zoo.test:587",
    tls: true,
  });
  const smsId = await make("/sms_providers", {
    description: name("SMS provider"),
    sid: name("sid"),
    token: "a secret",
    sender_number: "+15005550006",
  });
  const schemaId = await make("/user_schemas", {
    type: name("schema"),
    schema: { type: "object", properties: { [name("property")]: { type: "string" } } },
  });
  await settings("/branding", { product_name: { set: name("product") } }, organizationId);
  const text = { key: "password.title", language: "en", set: name("text") };
  await settings("/texts", [text], organizationId);
  // Refused attempts are among what is shown.
  const wrong = { user: { user_id: userId }, password: { password: "wrong" } };
  assertRefused((await post("/sessions", { checks: wrong })).refusal, {
    code: 3,
    reason: "INVALID_CREDENTIALS",
  });
  const objects = {
    "/people/$id": [userId, machineId],
    "/organizations/$id": [organizationId],
    "/applications/$id": apps,
    "/projects/$id": [projectId],
    "/targets/$id": [targetId],
    "/mail/$id": [mailId],
    "/sms/$id": [smsId],
    "/schemas/$id": [schemaId],
    ...Object.fromEntries(providers.map(([path, id]) => [path, [id]])),
  };
  return { organizationId, partnerId, projectId, grantId, userId, machineId, objects };
}

const metadata = (name: (kind: string) => string): JsonObject => ({
  value: Buffer.from(name("metadata")).toString("base64"),
});
