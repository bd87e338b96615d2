import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerEnvelope } from "smtp-server";
import { freePort } from "./free-port.ts";

export const account = { user: "idsvc", password: "secret of the mail server" };

/** A real mail server on this machine, which keeps what it takes. */
export type MailServer = AsyncDisposable & {
  host: string;
  /** What it took, the first first. */
  mails: Received[];
  /** Waits for the mail to an address that is `count`th of all to it. */
  mailTo(address: string, count?: number): Promise<Received>;
  /** What it says to a recipient instead of taking the mail; undefined ends that. */
  refuse(address: string, status: number | undefined): void;
  /** Nobody answers at its port. */
  stop(): Promise<void>;
  /** Somebody takes connections at its port and never says a word. */
  stall(): Promise<void>;
  start(): Promise<void>;
};

export type Received = { to: string[]; from: string } & Pick<
  Email,
  "subject" | "text" | "html" | "headers"
>;

export async function startMailServer(): Promise<MailServer> {
  const port = await freePort();
  const mails: Received[] = [];
  const refused = new Map<string, number>();
  const ofRecipient = (address: string) => mails.filter(({ to }) => to.includes(address));
  let running: { close(): Promise<void> } | undefined;

  async function take(stream: Readable, { rcptTo, mailFrom }: SMTPServerEnvelope) {
    const { subject, text, html, headers } = await PostalMime.parse(await buffer(stream));
    const to = rcptTo.map(({ address }) => address);
    const from = mailFrom === false ? "" : mailFrom.address;
    mails.push({ to, from, subject, text, html, headers });
  }

  async function listen() {
    const server = new SMTPServer({
      authOptional: true,
      allowInsecureAuth: true,
      disabledCommands: ["STARTTLS"],
      onAuth({ username, password }, _, done) {
        const isRight = username === account.user && password === account.password;
        done(isRight ? null : new Error("wrong"), isRight ? { user: account.user } : undefined);
      },
      onRcptTo({ address }, _, done) {
        const responseCode = refused.get(address);
        if (responseCode === undefined) return done();
        done(Object.assign(new Error(`no mail for ${address}`), { responseCode }));
      },
      onData: (stream, { envelope }, done) => void take(stream, envelope).then(() => done(), done),
    });
    server.on("error", () => undefined);
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return { close: () => new Promise<void>((resolve) => server.close(resolve)) };
  }

  async function tarpit() {
    const open = new Set<Socket>();
    const server: Server = createServer((socket) => {
      open.add(socket);
      socket.on("error", () => undefined);
    }).listen(port, "127.0.0.1");
    await once(server, "listening");
    return {
      async close() {
        for (const socket of open) socket.destroy();
        server.close();
        await once(server, "close");
      },
    };
  }

  const stop = async () => {
    await running?.close();
    running = undefined;
  };
  running = await listen();
  return {
    host: `127.0.0.1:${port}`,
    mails,
    async mailTo(address, count = 1) {
      for (const end = Date.now() + 60_000; ; await delay(10)) {
        const found = ofRecipient(address)[count - 1];
        if (found !== undefined) return found;
        assert.ok(Date.now() < end, `no mail number ${count} came to ${address}`);
      }
    },
    refuse(address, status) {
      if (status === undefined) refused.delete(address);
      else refused.set(address, status);
    },
    stop,
    async stall() {
      await stop();
      running = await tarpit();
    },
    async start() {
      await stop();
      running = await listen();
    },
    [Symbol.asyncDispose]: stop,
  };
}
