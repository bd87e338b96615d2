import { issuerOf } from "../authz/host.ts";
import type { EgressClient } from "../egress/client.ts";
import {
  createDevelopmentMail,
  createNotices,
  type DevelopmentMail,
  type Message,
  type Notices,
} from "../notify/index.ts";
import type { ServiceDeps } from "./deps.ts";
import { primaryDomainReader } from "../resources/instance/index.ts";
import { powerReader } from "../resources/membership/index.ts";
import { smsProviderOf } from "../resources/sms/index.ts";
import { mailProviderOf } from "../resources/smtp/index.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Siblings } from "./siblings.ts";

// Only whoever sits at the machine reaches these: there a page shows the mails.
const developers: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

export const isForDevelopers = ({ hostname }: URL): boolean => developers.has(hostname);

/** Mail on a developer's machine, whichever of the processes that serve together has sent it. */
export function developmentMailOf(now: () => Date, siblings: Siblings): DevelopmentMail {
  const mail = createDevelopmentMail(now);
  siblings.onTold("development_mail", (message) => void mail.take(message as Message));
  return {
    ...mail,
    async take(message) {
      await mail.take(message);
      siblings.tell("development_mail", message);
    },
  };
}

/** What tells users, over the slices of the service. */
export function openNotices(
  deps: ServiceDeps,
  parts: {
    outside: EgressClient;
    externalUrl: URL;
    logger: Logger;
    developmentMail: DevelopmentMail | undefined;
  },
): Notices {
  const { externalUrl, ...ports } = parts;
  const domainOf = primaryDomainReader(deps.db);
  return createNotices(deps, {
    ...ports,
    powers: powerReader(deps),
    providers: { mail: mailProviderOf(deps), sms: smsProviderOf(deps) },
    issuerOf: async (instanceId) => issuerOf(externalUrl, await domainOf(instanceId)),
    // The pages are loaded with the first of them.
    pathOf: async (notice) => (await import("./login.ts")).pathOfNotice(notice),
  });
}
