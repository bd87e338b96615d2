import type { JsonObject } from "@bufbuild/protobuf";
import { setTimeout as delay } from "node:timers/promises";
import { jobs } from "../../../src/jobs/job.ts";
import { and, inArray, isNull } from "../../../src/storage/drizzle.ts";
import { browserOf } from "./browser.ts";
import type { World } from "./world.ts";

// Whom a claim of a domain concerns is found out by a job that leaves messages.
const kinds = ["notice", "domain.claimed"];
const longestMs = 10_000;

/**
 * Waits until all that somebody is to be told was tried once. A provider that the attacker set up may take nothing; what is
 * tried anew is waited for no longer.
 */
export async function noticesTried({ service: { app } }: Pick<World, "service">): Promise<void> {
  const { db } = app.kernel;
  const t = db.table(jobs);
  const untried = () =>
    db.read
      .select({ id: t.id })
      .from(t)
      .where(and(inArray(t.kind, kinds), isNull(t.failingSince), isNull(t.deadAt)));
  const end = performance.now() + longestMs;
  while (performance.now() < end && (await untried()).length > 0) await delay(10);
}

/** What was sent to addresses that are somebody's: the codes and links of each mail. */
export async function mailbox(
  { service, host }: Pick<World, "service" | "host">,
  isTheirs: (to: string) => boolean,
): Promise<JsonObject[]> {
  await noticesTried({ service });
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
        ...{ address: to },
        ...(code === undefined ? {} : { code }),
        ...(link === undefined ? {} : { link }),
      };
    });
}
