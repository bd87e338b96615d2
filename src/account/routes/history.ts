import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Route } from "../../login/route.ts";
import { partsAt, startOf } from "../../login/parts/pager.ts";
import { type AccountParts, atMost, ownRoute } from "../own.ts";
import { eventsOfPage, historyPage } from "../pages/history.ts";
import { partOf } from "../parts/pager.ts";
import { accountPaths } from "../paths.ts";

/** Log-ins, failures and changes, with address and browser where they are the person's own (L4). */
export const historyRoute = (parts: AccountParts): Route =>
  ownRoute(parts, {
    path: accountPaths.history,
    async get(own) {
      const from = startOf(own.context);
      const { result } = await own.call(UserService.method.searchUserEvents, {
        id: own.user.id,
        query: { limit: atMost(parts, eventsOfPage + 1), offset: BigInt(from) },
        withChecks: true,
      });
      const events = result
        .slice(0, eventsOfPage)
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
      const view = { events, parts: partsAt(from, eventsOfPage, result.length) };
      return own.show((page) => historyPage(page, view), {
        self: partOf(accountPaths.history, from),
      });
    },
  });
