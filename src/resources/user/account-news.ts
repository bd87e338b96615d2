import type { Reaction } from "../../eventstore/settle.ts";
import type { Deps } from "../../projection/module.ts";
import { knownBrowsersOf } from "./check/known-browsers.ts";
import { type News, tellNews } from "./notice.ts";

const made: ReadonlySet<string> = new Set(["user.human.added", "user.added"]);

const added: News = "factor.added";
const removed: News = "factor.removed";

/** What its owner is told of that happened to an account (L5). What came with the account is no news. */
const newsOf: Readonly<Record<string, News>> = {
  "user.human.passwordless.token.verified": added,
  "user.human.passwordless.token.prepared": added,
  "user.human.mfa.u2f.token.verified": added,
  "user.human.mfa.otp.verified": added,
  "user.human.mfa.otp.sms.verified": added,
  "user.human.mfa.otp.email.verified": added,
  "user.human.externalidp.added": added,
  "user.human.password.removed": removed,
  "user.human.passwordless.token.removed": removed,
  "user.human.mfa.u2f.token.removed": removed,
  "user.human.mfa.otp.removed": removed,
  "user.human.mfa.otp.sms.removed": removed,
  "user.human.mfa.otp.email.removed": removed,
  "user.human.externalidp.removed": removed,
  "user.human.mfa.recovery_codes.added": "recovery_codes.made",
  "user.human.mfa.recovery_codes.removed": removed,
  "user.human.mfa.recovery_codes.check.succeeded": "recovery_code.used",
};

// Imports link the accounts of many people who were never here: to them it is no news.
const isForThoseWhoWereHere = (type: string): boolean => type === "user.human.externalidp.added";

/** Tells people in the unit in which it happens; of much of a kind once. */
export function accountNews({ db, newId }: Pick<Deps, "db" | "newId">): Reaction {
  const browsersOf = knownBrowsersOf(db);
  return {
    to: [...made, ...Object.keys(newsOf), "user.removed"],
    async react(tx, happened) {
      const { instanceId } = tx.at;
      const byUser = Map.groupBy(happened, ({ aggregateId }) => aggregateId);
      for (const [userId, events] of byUser) {
        let types = events.map(({ type }) => type);
        if (types.some((type) => made.has(type) || type === "user.removed")) continue;
        if (types.some(isForThoseWhoWereHere)) {
          const wasHere = (await browsersOf(instanceId, userId)).length > 0;
          if (!wasHere) types = types.filter((type) => !isForThoseWhoWereHere(type));
        }
        for (const news of new Set(types.flatMap((type) => newsOf[type] ?? []))) {
          tellNews(tx, newId, { instanceId, userId }, { news });
        }
      }
    },
  };
}
