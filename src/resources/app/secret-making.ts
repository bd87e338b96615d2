import type { Deps } from "../../projection/module.ts";
import { app } from "./application.ts";

/** Methods by which an app proves itself with a secret. */
const bySecret: readonly unknown[] = ["basic", "post"];
const page = 500;

/** Who made the secret that an app has now, and when: the log tells. Undefined where it has none. */
export async function secretMaking(
  events: Deps["events"],
  instanceId: string,
  appId: string,
): Promise<{ creatorId: string; createdAt: Date } | undefined> {
  const aggregate = { type: app.type, id: appId };
  let made: { creatorId: string; createdAt: Date } | undefined;
  for (let after = 0n; ; ) {
    const log = await events.read({ instanceId, aggregate, after, limit: page });
    for (const { type, payload, editorId: creatorId, createdAt } of log) {
      if (type.endsWith(".secret.changed")) made = { creatorId, createdAt };
      const { authMethodType } = Object(payload);
      if (!/\.config\.(oidc|api)\.(added|changed)$/.test(type) || authMethodType === undefined)
        continue;
      if (!bySecret.includes(authMethodType)) made = undefined;
      else made ??= { creatorId, createdAt };
    }
    const last = log.at(-1);
    if (last === undefined || log.length < page) return made;
    after = last.sequence;
  }
}
