import type { JsonObject } from "@bufbuild/protobuf";
import { noticesSent } from "../../support/notices.ts";
import { browserOf } from "./browser.ts";
import type { World } from "./world.ts";

/** What was sent to addresses that are somebody's: the codes and links of each mail. */
export async function mailbox(
  { service, host }: Pick<World, "service" | "host">,
  isTheirs: (to: string) => boolean,
): Promise<JsonObject[]> {
  // An attacker may name a mail server that refuses.
  await noticesSent(service.app, { untried: true });
  const { html } = await browserOf(service, host).open("/ui/dev/mail");
  return html
    .split("<article")
    .slice(1)
    .map((mail) => ({
      to: /<dd>([^<]*)<\/dd>/.exec(mail)?.[1] ?? "",
      text: /<pre>([\s\S]*?)<\/pre>/.exec(mail)?.[1] ?? "",
    }))
    .filter(({ to }) => isTheirs(to))
    .map(({ to, text }) => {
      const code = /Code: (\S+)/.exec(text)?.[1];
      const link = /href="([^"]+)"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
      return {
        address: to,
        ...(code === undefined ? {} : { code }),
        ...(link === undefined ? {} : { link }),
      };
    });
}
