import assert from "node:assert/strict";
import { authorizeUrl } from "./login.ts";
import { noticesSent } from "./notices.ts";
import type { MadeClient, OidcPeer } from "./oidc.ts";
import { bodyOf } from "./peer.ts";
import { answerOf, type Shown, type UserAgent, userAgent } from "./user-agent.ts";

export const settingsPath = "/settings/v3alpha";

export type Mail = { to: string; subject: string; code: string; text: string };

/** What tests of the login do again and again, at one app. */
export type LoginPages = {
  /** A browser at the first page of a login. */
  begin(more?: Record<string, string>, client?: MadeClient): Promise<UserAgent>;
  /** The last mail that the development page shows. */
  lastMail(): Promise<Mail>;
  /** The code of the last mail to one of the addresses that has one; empty where there is none. */
  codeSentTo(addresses: readonly string[]): Promise<string>;
  /** How many there are. */
  mails(): Promise<number>;
  /** Changes settings of the instance. */
  change(what: string, values: object): Promise<void>;
};

export function loginPages(peer: OidcPeer, app: MadeClient): LoginPages {
  const mailPage = async () => {
    await noticesSent(peer.app);
    return (await userAgent(peer.issuer).open("/ui/dev/mail")).html;
  };
  return {
    async begin(more = {}, client = app) {
      const agent = userAgent(peer.issuer);
      await agent.open(authorizeUrl(peer, client, more));
      return agent;
    },
    async lastMail() {
      const [mail = ""] = (await mailPage()).split("<article").slice(1);
      return readMail(mail);
    },
    async codeSentTo(addresses) {
      const all = (await mailPage()).split("<article").slice(1).map(readMail);
      return all.find(({ to, code }) => code !== "" && addresses.includes(to))?.code ?? "";
    },
    mails: async () => (await mailPage()).split("<article").length - 1,
    async change(what, values) {
      const path = `${settingsPath}/${what}`;
      bodyOf(await peer.peer.rest("PATCH", path, { ...values }, { token: peer.app.token }));
    },
  };
}

function readMail(article: string): Mail {
  const text = /<pre>([\s\S]*?)<\/pre>/.exec(article)?.[1] ?? "";
  return {
    to: /<dd>([^<]*)<\/dd>/.exec(article)?.[1] ?? "",
    subject: /<h2>([^<]*)<\/h2>/.exec(article)?.[1] ?? "",
    // A mail has it in a line of its own, a text message at its beginning.
    code: /(?:Code: |^)(\S+)(?:$| is your code)/m.exec(text)?.[1] ?? "",
    text,
  };
}

export const pathOf = ({ url }: Shown): string => url.pathname;
export const codeIn = (shown: Shown): void =>
  assert.match(answerOf(shown).get("code") ?? "", /^idsvc_ac_/);
