import { generateKeyPairSync } from "node:crypto";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { ofService, onId, type Sample, tooLong, type World } from "./sample.ts";

const unknown = "APP_NOT_FOUND";
const oidc = { redirect_uris: ["https://rp.test/callback"] };
const newApp = ({ make, name, projectId }: World) =>
  make("/apps", { project_id: projectId, name: name(), oidc });
const inactive = async (world: World) => {
  const id = await newApp(world);
  await world.act(`/apps/${id}/_deactivate`);
  return id;
};
const { publicKey } = generateKeyPairSync("ed25519");
const key = { public_key: publicKey.export({ type: "spki", format: "pem" }).toString() };
const newKey = async (world: World) => {
  const id = await newApp(world);
  const { key_id = "" } = await world.create(`/apps/${id}/keys`, key);
  return { id, key_id };
};

export const appSamples: Record<string, Sample> = ofService(AppService.typeName, {
  CreateApp: {
    valid: ({ projectId, name }) => ({ app: { project_id: projectId, name: name(), oidc } }),
    invalid: {
      request: { app: { project_id: "1", name: "", oidc: {} } },
      field: "app.name",
    },
    unknown: {
      request: { app: { project_id: "404", name: "x", oidc } },
      reason: "PROJECT_NOT_FOUND",
    },
    writes: true,
  },
  PatchApp: {
    valid: async (world) => ({ id: await newApp(world), app: { name: world.name() } }),
    invalid: { request: { id: "1", app: { name: tooLong } }, field: "app.name" },
    unknown: { request: { id: "404", app: { name: "x" } }, reason: unknown },
    writes: true,
  },
  DeactivateApp: onId(unknown, newApp),
  ActivateApp: onId(unknown, inactive),
  DeleteApp: onId(unknown, newApp),
  GetApp: onId(unknown, newApp, false),
  SearchApps: {
    valid: ({ projectId }) => ({
      sorting_column: "APP_FIELD_NAME_NAME",
      query: { limit: 1, asc: true },
      filters: [{ project_id: projectId }, { client_id: "404" }],
    }),
    invalid: {
      request: { filters: [{ name: { name: tooLong } }] },
      field: "filters[0].name.name",
    },
    unknown: undefined,
    writes: false,
  },
  RegenerateSecret: onId(unknown, newApp),
  AddKey: {
    valid: async (world) => ({ id: await newApp(world), key }),
    invalid: {
      request: { id: "1", key: { public_key: "x".repeat(4049) } },
      field: "key.public_key",
    },
    unknown: { request: { id: "404", key }, reason: unknown },
    writes: true,
  },
  RemoveKey: {
    valid: newKey,
    invalid: { request: { id: "1", key_id: tooLong }, field: "key_id" },
    unknown: { request: { id: "404", key_id: "404" }, reason: unknown },
    writes: true,
  },
  ListKeys: onId(unknown, newApp, false),
});
