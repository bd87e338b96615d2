import { SMTPProviderService } from "#gen/idsvc/resources/smtp/v3alpha/smtp_provider_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Deps, Module } from "../../projection/module.ts";
import { type SendTest, smtpHandlers } from "./handlers.ts";
import { smtp } from "./place.ts";

export type { SendTest } from "./handlers.ts";
export { type MailProvider, mailProviderOf } from "./providers.ts";

/**
 * What sends mails, of the system or of instances (resources, SMTP and SMS providers).
 *
 * @param testOf gives what sends a test message
 */
export const smtpModule = (testOf: (deps: Deps) => SendTest): Module => ({
  events: smtp.events,
  projections: smtp.projections,
  services: (deps) => [service(SMTPProviderService, smtpHandlers(deps, testOf(deps)))],
});
