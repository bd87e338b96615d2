import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Route } from "../../login/route.ts";
import { type AccountParts, type Own, ownRoute } from "../own.ts";
import { historyPage } from "../pages/history.ts";
import { accountPaths } from "../paths.ts";

const ofOnePage = 15;
const furthest = 100_000;

/** Log-ins, failures and changes, with address and browser where they are the person's own (L4). */
export const historyRoute = (parts: AccountParts): Route =>
  ownRoute(parts, {
    path: accountPaths.history,
    async get(own) {
      const from = startOf(own);
      const { result } = await own.call(UserService.method.searchUserEvents, {
        id: own.user.id,
        query: { limit: ofOnePage + 1, offset: BigInt(from) },
        withChecks: true,
      });
      const events = result
        .slice(0, ofOnePage)
        .map(({ localizedMessage, creationDate, editor }) => {
          const { browser, system, address } = editor?.origin ?? {};
          const by = editor?.userId ?? "";
          return {
            ...{ text: localizedMessage, at: creationDate },
            where: [browser, system, address].filter((each) => (each ?? "") !== "").join(" · "),
            isByOther: by !== own.user.id && by !== "" && !by.startsWith("system:"),
          };
        });
      const view = {
        events,
        newer: from === 0 ? undefined : Math.max(0, from - ofOnePage),
        older: result.length > ofOnePage ? from + ofOnePage : undefined,
      };
      const self = from === 0 ? accountPaths.history : `${accountPaths.history}?from=${from}`;
      return own.show((page) => historyPage(page, view), { self });
    },
  });

function startOf({ context }: Own): number {
  const from = Number(context.query.get("from") ?? "0");
  return Number.isSafeInteger(from) && from >= 0 && from <= furthest ? from : 0;
}
