import type { PowerReader } from "../authz/ports.ts";
import type { EgressClient } from "../egress/client.ts";
import { handle, type JobHandlers, type LaneRule } from "../jobs/job.ts";
import type { Deps } from "../projection/module.ts";
import { type DueNotice, noticeJob, noticeSource } from "../resources/user/index.ts";
import { brandingReader } from "../settings/policy/branding.ts";
import { paletteOf } from "../settings/policy/palette.ts";
import { languageReader } from "../settings/policy/language.ts";
import type { Logger } from "../telemetry/logger.ts";
import { chooseLanguage } from "../texts/languages.ts";
import { texts } from "../texts/texts.ts";
import type { DevelopmentMail } from "./development-mail.ts";
import { MessageRefused } from "./failure.ts";
import { sendByGateway, sendByHttp } from "./http.ts";
import { fillTemplate, writeEmail, writeSms } from "./message.ts";
import { ownWords } from "./own-words.ts";
import type { MailProvider, Message, Providers, SmsProvider } from "./provider.ts";

export { createDevelopmentMail, type DevelopmentMail } from "./development-mail.ts";
export type {
  GatewayProvider,
  HttpProvider,
  MailProvider,
  Message,
  Providers,
  SmsProvider,
  SmtpProvider,
} from "./provider.ts";

export type NoticePorts = {
  outside: Pick<EgressClient, "call" | "connect">;
  logger: Logger;
  providers: Providers;
  powers: PowerReader;
  /** The address that the instance has outside: links are made from it and from nothing that a request said (D54). */
  issuerOf(instanceId: string): Promise<string>;
  /** The page of the login that a message leads to. */
  pathOf(notice: DueNotice): Promise<string | undefined>;
  /** Takes what no provider sends; only where nobody but the developer can reach the service. */
  developmentMail: DevelopmentMail | undefined;
};

export type Notices = {
  jobs: JobHandlers;
  /** Sends a test message by a provider, whether or not it is in force. @throws MESSAGE_REFUSED, MESSAGE_DELAYED */
  test(
    at: { instanceId: string; organizationId: string; channel: Message["channel"]; to: string },
    provider: MailProvider | SmsProvider,
  ): Promise<void>;
};

// Whoever waits for a code gets it within a minute after the provider is back (F18).
const lane: LaneRule = {
  parallel: 16,
  perGroup: 8,
  longestPauseMs: 30_000,
  limits: () => new Map(),
  whenDead: () => [],
};
const testMs = 45_000;

/**
 * Tells users what they are to be told: durable, at least once, in their language, with the texts and the look of their
 * organization. A code is made when it is sent. What a provider refuses for good is dropped, with a line in the log.
 */
export function createNotices(deps: Deps, ports: NoticePorts): Notices {
  const { logger, providers } = ports;
  const way = { outside: ports.outside, now: deps.now };
  const source = noticeSource(deps);
  const write = messageWriter(deps, ports);

  /** Whether it has left. */
  async function send(
    message: Message,
    attempt: { deliveryId: string; signal: AbortSignal },
  ): Promise<boolean> {
    const { instanceId, organizationId, channel } = message;
    const facts = { channel, instanceId, notice: attempt.deliveryId };
    const provider =
      channel === "email"
        ? await providers.mail?.(instanceId, organizationId)
        : await providers.sms?.(instanceId);
    if (provider === undefined) {
      if (ports.developmentMail === undefined) {
        logger.warn(facts, "no provider sends this message: it is dropped");
        return false;
      }
      await ports.developmentMail.take(message);
      return true;
    }
    try {
      await deliver(way, provider, message, attempt);
      return true;
    } catch (error) {
      if (!(error instanceof MessageRefused)) throw error;
      logger.warn({ ...facts, err: error }, "a message is refused for good: it is dropped");
      return false;
    }
  }

  const jobs = handle(
    noticeJob,
    async (job) => {
      const due = await source.due(job);
      if (due === undefined) return "done";
      const { address, channel, user } = due;
      const { organizationId } = user;
      const { instanceId, signal } = job;
      const at = { instanceId, organizationId, channel };
      const message = { ...at, to: address, ...(await write(at, due)) };
      if (await send(message, { deliveryId: job.id, signal })) await source.sent(job);
      return "done";
    },
    lane,
  );

  return {
    jobs,
    async test({ to, ...at }, provider) {
      const signal = AbortSignal.timeout(testMs);
      const message = { ...at, to, ...(await write(at, "test")) };
      await deliver(way, provider, message, { deliveryId: deps.newId(), signal });
    },
  };
}

/** Writes messages in the language of who they are for, with the texts and the look of their organization. */
function messageWriter(deps: Deps, ports: NoticePorts) {
  const branding = brandingReader(deps.db);
  const languages = languageReader(deps.db);
  const wordsFor = ownWords(deps, ports.powers);

  return async (at: MessageContext, due: DueNotice | "test"): Promise<Content> => {
    const { instanceId, organizationId } = at;
    const wished = due === "test" ? undefined : due.user.preferredLanguage;
    const offered = await languages(instanceId, organizationId);
    const language = chooseLanguage({ ...offered, uiLocales: wished });
    const userId = due === "test" ? undefined : due.user.id;
    const t = texts(language, await wordsFor(at, language, userId));
    const chosen = await branding(instanceId, organizationId);
    const { productName, logo } = chosen;
    const { brand, onBrand } = paletteOf(chosen, "light");
    const issuer = await ports.issuerOf(instanceId);
    const topic = due === "test" ? due : due.topic;
    const code = due === "test" ? undefined : due.code;
    if (at.channel === "sms") return writeSms(t, topic, { code: code ?? "", product: productName });
    const look = {
      productName,
      brand,
      onBrand,
      logoUrl: logo === undefined ? undefined : `${issuer}${logo.path}`,
    };
    if (due === "test") return writeEmail({ t, language, look }, due, { loginName: "" });
    const { domain, account, endsAt, browser, app, user } = due;
    const link = await linkOf(ports, due, issuer);
    const about = { domain, account, endsAt, browser, app };
    const values = { loginName: user.loginName, code, link, ...about };
    return writeEmail({ t, language, look }, topic, values);
  };
}

async function linkOf(
  ports: NoticePorts,
  due: DueNotice,
  issuer: string,
): Promise<string | undefined> {
  const { urlTemplate, user, code = "", codeId = "", sessionId = "" } = due;
  if (urlTemplate !== undefined) {
    return fillTemplate(urlTemplate, {
      UserID: user.id,
      OrgID: user.organizationId,
      LoginName: user.loginName,
      Code: code,
      CodeID: codeId,
      SessionID: sessionId,
    });
  }
  const path = await ports.pathOf(due);
  return path === undefined ? undefined : `${issuer}${path}`;
}

type Way = { outside: NoticePorts["outside"]; now: () => Date };

async function deliver(
  { outside, now }: Way,
  provider: MailProvider | SmsProvider,
  message: Message,
  attempt: { deliveryId: string; signal: AbortSignal },
): Promise<void> {
  switch (provider.kind) {
    case "smtp": {
      // Loaded by the first mail.
      const { sendBySmtp } = await import("./smtp.ts");
      return sendBySmtp(outside, provider, message, attempt.signal);
    }
    case "http":
      return sendByHttp({ outside, now }, provider, message, attempt);
    case "gateway":
      return sendByGateway({ outside, now }, provider, message, attempt.signal);
  }
}

type MessageContext = Pick<Message, "instanceId" | "organizationId" | "channel">;
type Content = Pick<Message, "subject" | "text" | "html">;
