import { SMTPProviderService } from "#gen/idsvc/resources/smtp/v3alpha/smtp_provider_service_pb.ts";
import { service, type ServiceBinding } from "../../authz/service.ts";
import type { Deps, Module } from "../../projection/module.ts";
import { type SendTest, smtpHandlers } from "./handlers.ts";
import { smtp } from "./config.ts";

export { mailProviderOf } from "./providers.ts";

/** What sends mails, of the system or of instances. */
export const smtpModule: Module = { events: smtp.events, projections: smtp.projections };

/** Its service, which sends test messages by what sends all others. */
export const smtpService = (deps: Deps, sendTest: SendTest): ServiceBinding =>
  service(SMTPProviderService, smtpHandlers(deps, sendTest));
