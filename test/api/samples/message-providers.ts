import { createServer } from "node:http";
import { once } from "node:events";
import type { JsonObject } from "@bufbuild/protobuf";
import { SMSProviderService } from "#gen/idsvc/resources/sms/v3alpha/sms_provider_service_pb.ts";
import { SMTPProviderService } from "#gen/idsvc/resources/smtp/v3alpha/smtp_provider_service_pb.ts";
import { ofService, onId, type Sample, tooLong, tooLongId, type World } from "./sample.ts";

/** Takes every message; it does not keep the process alive. */
async function startTaker(): Promise<string> {
  const server = createServer((request, response) => request.resume() && response.end());
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
}

let taker: Promise<string> | undefined;
const newTaker = async (world: World) => {
  taker ??= startTaker();
  const { details } = await world.create("/smtp_providers", { http: { url: await taker } });
  return String(Object(details).id);
};

export const mailServer: JsonObject = {
  sender_address: "idsvc@example.com",
  host: "mail.example.com:587",
  tls: true,
  user: "idsvc",
  password: "a secret",
};
export const gateway: JsonObject = { sid: "AC1", token: "a secret", sender_number: "+15005550006" };

type Parts = { path: string; provider: JsonObject; unknown: string };

function samplesOf(
  kind: "SMTP" | "SMS",
  { path, provider, unknown }: Parts,
): Record<string, Sample> {
  const field = `${kind.toLowerCase()}_provider`;
  const make = (world: World) => world.make(path, { ...provider, description: world.name() });
  const inactive = async (world: World) => {
    const id = await make(world);
    await world.act(`${path}/${id}/_deactivate`);
    return id;
  };
  return {
    [`Create${kind}Provider`]: {
      valid: (world) => ({ [field]: { ...provider, description: world.name() } }),
      invalid: {
        request: { [field]: { ...provider, description: tooLong } },
        field: `${field}.description`,
      },
      unknown: undefined,
      writes: true,
    },
    [`Patch${kind}Provider`]: {
      valid: async (world) => ({ id: await make(world), [field]: { description: world.name() } }),
      invalid: {
        request: { id: "1", [field]: { description: tooLong } },
        field: `${field}.description`,
      },
      unknown: { request: { id: "404", [field]: {} }, reason: unknown },
      writes: true,
    },
    [`Get${kind}Provider`]: onId(unknown, make, false),
    [`Delete${kind}Provider`]: onId(unknown, make),
    [`Search${kind}Providers`]: {
      valid: () => ({ filters: [{ in_ids: { ids: ["404"] } }] }),
      invalid: {
        request: { filters: [{ description: { description: tooLong } }] },
        field: "filters[0].description.description",
      },
      unknown: undefined,
      writes: false,
    },
    [`Activate${kind}Provider`]: onId(unknown, inactive),
    [`Deactivate${kind}Provider`]: onId(unknown, make),
  };
}

export const messageProviderSamples: Record<string, Sample> = {
  ...ofService(SMTPProviderService.typeName, {
    ...samplesOf("SMTP", {
      path: "/smtp_providers",
      provider: mailServer,
      unknown: "SMTP_PROVIDER_NOT_FOUND",
    }),
    TestSMTPProvider: {
      valid: async (world) => ({
        id: await newTaker(world),
        test: { receiver_address: "somebody@example.com" },
      }),
      invalid: {
        ...tooLongId,
        request: { ...tooLongId.request, test: { receiver_address: "a@b.c" } },
      },
      unknown: {
        request: { id: "404", test: { receiver_address: "a@example.com" } },
        reason: "SMTP_PROVIDER_NOT_FOUND",
      },
      writes: true,
    },
  }),
  ...ofService(
    SMSProviderService.typeName,
    samplesOf("SMS", {
      path: "/sms_providers",
      provider: gateway,
      unknown: "SMS_PROVIDER_NOT_FOUND",
    }),
  ),
};
