import type { JsonObject } from "@bufbuild/protobuf";
import { gateway, mailServer } from "../api/samples/message-providers.ts";
import type { World } from "../api/samples/sample.ts";

type Done = (method: string, path: string, body?: JsonObject, as?: string) => Promise<void>;

const inSystem = "?ctx.system=true";

/** Makes providers of messages whose secrets change, of the system as well, on which the instance decides. */
export async function rareMessageProviders(
  { make }: World,
  done: Done,
  system: string,
): Promise<void> {
  const sms = await make("/sms_providers", gateway);
  await done("PATCH", `/sms_providers/${sms}`, { sid: "AC2", token: "another" });
  await done("POST", `/sms_providers/${sms}/_deactivate`);
  await done("POST", `/sms_providers/${sms}/_activate`);
  await done("DELETE", `/sms_providers/${sms}`);
  const own = await make("/smtp_providers", mailServer);
  await turnAndChange(`/smtp_providers/${own}`, "");
  const above = await make(`/smtp_providers${inSystem}`, mailServer, "system");
  await done("PATCH", `/smtp_providers/${above}`, { state_policy: "STATE_POLICY_DEACTIVATE" });
  await turnAndChange(`/smtp_providers/${above}`, inSystem, system);

  async function turnAndChange(path: string, query: string, as?: string): Promise<void> {
    await done("PATCH", `${path}${query}`, { user: "other", password: "another" }, as);
    await done("POST", `${path}/_deactivate${query}`, undefined, as);
    await done("POST", `${path}/_activate${query}`, undefined, as);
    await done("DELETE", `${path}${query}`, undefined, as);
  }
}
