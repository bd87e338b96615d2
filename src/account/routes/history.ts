import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Route } from "../../login/route.ts";
import { type AccountParts, atMost, ownRoute } from "../own.ts";
import { historyPage } from "../pages/history.ts";
import { partOf, partsAt, startOf } from "../parts/pager.ts";
import { accountPaths } from "../paths.ts";

const ofOnePage = 15;

/** Log-ins, failures and changes, with address and browser where they are the person's own (L4). */
export const historyRoute = (parts: AccountParts): Route =>
  ownRoute(parts, {
    path: accountPaths.history,
    async get(own) {
      const from = startOf(own.context);
      const { result } = await own.call(UserService.method.searchUserEvents, {
        id: own.user.id,
        query: { limit: atMost(parts, ofOnePage + 1), offset: BigInt(from) },
        withChecks: true,
      });
      const events = result
        .slice(0, ofOnePage)
        .map(({ localizedMessage, creationDate, editor }) => {
          const { browser, system, address } = editor?.origin ?? {};
          const place = parts.placeOf(address ?? "");
          const by = editor?.userId ?? "";
          return {
            text: localizedMessage,
            at: creationDate,
            where: [browser, system, place, address]
              .filter((each) => (each ?? "") !== "")
              .join(" · "),
            isByOther: by !== own.user.id && by !== "" && !by.startsWith("system:"),
          };
        });
      const view = { events, parts: partsAt(from, ofOnePage, result.length) };
      return own.show((page) => historyPage(page, view), {
        self: partOf(accountPaths.history, from),
      });
    },
  });
