import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { World } from "../api/samples/sample.ts";
import type { Peer } from "../support/protocols.ts";
import { rareIdps } from "./rare-idps.ts";
import { rareMessageProviders } from "./rare-message-providers.ts";
import { rareSettings } from "./rare-settings.ts";

/** Makes the events that no sample of a call makes: cascades, failed proofs, settings of every property, all contexts. */
export async function rareEvents(peer: Peer, world: World, token: string, system: string) {
  const send = async (method: string, path: string, body?: JsonValue, as = token) => {
    const { status, json } = await peer.rest(method, path, body, { token: as });
    assert.ok(status < 500, JSON.stringify(json));
    return { status, json };
  };
  const done = async (method: string, path: string, body?: JsonObject, as = token) => {
    const { status, json } = await send(method, `/resources/v3alpha${path}`, body, as);
    assert.ok(status < 300, `${method} ${path}: ${JSON.stringify(json)}`);
  };
  const { make, name, instanceId, organizationId } = world;

  await rareSettings(send, organizationId);
  await rareIdps(world, done);
  await rareMessageProviders(world, done, system);

  const project_id = await make("/projects", { name: name() });
  const [reader, writer] = ["reader", "writer"];
  const roles: string[] = [];
  for (const key of [reader, writer]) roles.push(await make("/project_roles", { project_id, key }));
  const granted = await make("/organizations", { name: name() });
  const project_grant_id = await make("/project_grants", {
    project_id,
    granted_organization_id: granted,
    role_keys: [reader, writer],
  });
  const contexts: [JsonObject, string, string][] = [
    [{ system: true }, "SYSTEM_OWNER", "SYSTEM_OWNER_VIEWER"],
    [{ instance_id: instanceId }, "IAM_ORG_MANAGER", "IAM_OWNER_VIEWER"],
    [{ org_id: granted }, "ORG_OWNER", "ORG_OWNER_VIEWER"],
    [{ project_id }, "PROJECT_OWNER", "PROJECT_OWNER_VIEWER"],
    [{ project_grant_id }, "PROJECT_GRANT_OWNER", "PROJECT_GRANT_OWNER_VIEWER"],
  ];
  const machine = (): JsonObject => ({
    schema_id: "machine",
    username: name(),
    data: { name: "M" },
  });
  for (const [ctx, role, other] of contexts) {
    const as = ctx["system"] === true ? system : token;
    for (const ending of ["delete", "cascade"]) {
      const user_id = await make("/users", machine());
      const { status, json } = await send(
        "POST",
        "/resources/v3alpha/memberships",
        { ctx, user_id, roles: [role] },
        as,
      );
      assert.equal(status, 201, `${JSON.stringify(ctx)}: ${JSON.stringify(json)}`);
      const id = String(Object(json).details.id);
      await done("PATCH", `/memberships/${id}`, { roles: [role, other] }, as);
      if (ending === "delete") await done("DELETE", `/memberships/${id}`, undefined, as);
      else await done("DELETE", `/users/${user_id}`);
    }
  }

  // Accepted, declined: memberships of users of other organizations.
  const elsewhere = await make("/organizations", { name: name() });
  for (const [ctx, owner, role] of [
    [{ org_id: granted }, granted, "ORG_OWNER"],
    [{ project_id }, organizationId, "PROJECT_OWNER"],
    [{ project_grant_id }, granted, "PROJECT_GRANT_OWNER"],
  ] as const) {
    const giver = await make(`/users?ctx.org_id=${owner}`, machine());
    await make("/memberships", { ctx: { org_id: owner }, user_id: giver, roles: ["ORG_OWNER"] });
    const { token: own } = await world.create(`/users/${giver}/personal_access_tokens`, {});
    const member = await make(`/users?ctx.org_id=${elsewhere}`, machine());
    const given = { ctx, user_id: member, roles: [role] };
    const made = await world.createAs(String(own), "/memberships", given);
    await done("POST", `/memberships/${Object(made["details"]).id}/_accept`);
  }

  // What a weaker maker left on an account ends when its user comes to power, and all sessions with it.
  const manager = await make(`/users?ctx.org_id=${granted}`, machine());
  await make("/memberships", {
    ctx: { org_id: granted },
    user_id: manager,
    roles: ["ORG_USER_MANAGER"],
  });
  const { token: ofManager } = await world.create(`/users/${manager}/personal_access_tokens`, {});
  const promoted = await make(`/users?ctx.org_id=${granted}`, machine());
  await world.createAs(String(ofManager), `/users/${promoted}/personal_access_tokens`, {});
  await make("/memberships", { ctx: { org_id: granted }, user_id: promoted, roles: ["ORG_OWNER"] });

  // Somebody else comes to answer for a provider that a user with power is linked to.
  const keys = "https://provider.test/keys";
  const config = {
    issuer: "https://provider.test",
    jwt_endpoint: "https://provider.test/login",
    keys_endpoint: keys,
    header_name: "x-jwt",
  };
  const jwt = await make(`/idps/jwt?ctx.org_id=${granted}`, { idp: { name: name() }, config });
  const linked = await make(`/users?ctx.org_id=${granted}`, {
    username: name(),
    data: { given_name: "Ada" },
    authenticators: {
      identity_providers: [{ idp_id: jwt, user_id: "external", username: "ada" }],
    },
  });
  await make("/memberships", {
    ctx: { instance_id: instanceId },
    user_id: linked,
    roles: ["IAM_OWNER_VIEWER"],
  });
  const settler = await make(`/users?ctx.org_id=${granted}`, machine());
  await make("/memberships", {
    ctx: { org_id: granted },
    user_id: settler,
    roles: ["ORG_SETTINGS_MANAGER"],
  });
  const { token: ofSettler } = await world.create(`/users/${settler}/personal_access_tokens`, {});
  const elsewhereKeys = { config: { keys_endpoint: `${keys}/others` } };
  await done("PATCH", `/idps/jwt/${jwt}`, elsewhereKeys, String(ofSettler));
  await world.act(`/idps/${jwt}/_confirm`);

  const user_id = await make("/users", machine());
  await done("PATCH", `/users/${user_id}`, {
    username: name(),
    external_id: name(),
    data: { name: "N" },
  });
  const grantOf = (more: JsonObject) => make("/user_grants", { user_id, project_id, ...more });
  const own = await grantOf({ role_keys: [reader, writer] });
  await done("PATCH", `/user_grants/${own}`, { role_keys: [writer] });
  await done("PATCH", `/user_grants/${own}`, { role_keys: [reader, writer] });
  await done("PATCH", `/project_grants/${project_grant_id}`, { role_keys: [writer] });
  await done("PATCH", `/project_grants/${project_grant_id}`, { role_keys: [reader, writer] });
  await done("DELETE", `/project_roles/${roles[1]}`);
  await done("DELETE", `/users/${user_id}`);

  const schema_id = await make("/user_schemas", {
    type: name(),
    schema: { type: "object", properties: { team: { type: "string" } } },
  });
  const custom = await make("/users", { schema_id, username: name(), data: { team: "a" } });
  await done("PATCH", `/users/${custom}`, { data: { team: "b" } });

  const human = await make("/users", {
    schema_id: "human",
    username: name(),
    data: { given_name: "A", family_name: "B" },
    contact: { email: { address: "a@example.com" }, phone: { number: "+41791234567" } },
  });
  for (const kind of ["email", "phone"]) {
    const path = `/resources/v3alpha/users/${human}/${kind}/_verify`;
    await send("POST", path, "WRONG");
  }

  const wanted = { name: `${name().replaceAll(" ", "-")}.example` };
  const domain = await make("/domains", wanted);
  await done("DELETE", `/domains/${domain}`);
  const claimed = { ...wanted, validation_type: "DOMAIN_VALIDATION_TYPE_DNS" };
  const unproven = await make(`/domains?ctx.org_id=${granted}`, claimed);
  await send("POST", `/resources/v3alpha/domains/${unproven}/_validate`);

  const method = (prefix: string) => ({ auth_method_type: `${prefix}_PRIVATE_KEY_JWT` });
  const kinds: [JsonObject, JsonObject][] = [
    [{ oidc: {} }, { oidc: { dev_mode: true, ...method("OIDC_AUTH_METHOD_TYPE") } }],
    [{ api: {} }, { api: method("API_AUTH_METHOD_TYPE") }],
  ];
  for (const [kind, change] of kinds) {
    const app = await make("/apps", { project_id, name: name(), ...kind });
    await done("POST", `/apps/${app}/_regenerate_secret`);
    const { key_id = "" } = await world.create(`/apps/${app}/keys`, {});
    await done("PATCH", `/apps/${app}`, { name: name(), ...change });
    await done("DELETE", `/apps/${app}/keys/${key_id as string}`);
    await done("POST", `/apps/${app}/_deactivate`);
    await done("POST", `/apps/${app}/_activate`);
    await done("DELETE", `/apps/${app}`);
  }
}
