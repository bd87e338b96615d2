import type { JsonObject } from "@bufbuild/protobuf";
import { idpConfigs } from "../api/samples/idp.ts";
import type { World } from "../api/samples/sample.ts";

type Done = (method: string, path: string, body?: JsonObject) => Promise<void>;

/** Makes, changes and deletes a provider of each type in an organization, which also decides on one that it inherits. */
export async function rareIdps({ make, name, organizationId }: World, done: Done): Promise<void> {
  const inOrganization = `?ctx.org_id=${organizationId}`;
  for (const [type, { config, patch }] of Object.entries(idpConfigs)) {
    const id = await make(`/idps/${type}${inOrganization}`, { idp: { name: name() }, config });
    await done("PATCH", `/idps/${type}/${id}`, { idp: { name: name() }, config: patch });
    await done("DELETE", `/idps/${id}`);
  }
  const { config = {} } = idpConfigs["forge_b"] ?? {};
  const id = await make("/idps/forge_b", { config });
  const policy = { idp: { state_policy: "STATE_POLICY_DEACTIVATE" } };
  await done("PATCH", `/idps/forge_b/${id}${inOrganization}`, policy);
}
