import { SMSProviderService } from "#gen/idsvc/resources/sms/v3alpha/sms_provider_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { smsHandlers } from "./handlers.ts";
import { sms } from "./config.ts";

export { smsProviderOf } from "./providers.ts";

/** What sends the text messages of instances. */
export const smsModule: Module = {
  events: sms.events,
  projections: sms.projections,
  services: (deps) => [service(SMSProviderService, smsHandlers(deps))],
};
