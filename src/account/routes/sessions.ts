import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { type Route, valueOf } from "../../login/route.ts";
import { partsAt, startOf } from "../../login/parts/pager.ts";
import { type AccountParts, atMost, ownRoute } from "../own.ts";
import { sessionsOfPage, sessionsPage, type SignedIn } from "../pages/sessions.ts";
import { partOf } from "../parts/pager.ts";
import { accountPaths } from "../paths.ts";
import { taken, tried } from "../problems.ts";

const path = accountPaths.sessions;

/** Where the person is signed in, and the end of it. */
export const sessionsRoute = (parts: AccountParts): Route =>
  ownRoute(parts, {
    path,
    async get(own) {
      const from = startOf(own.context);
      const limit = atMost(parts, sessionsOfPage + 1);
      const result = await parts.signIns.search(own, { limit, offset: from });
      const sessions = result
        .slice(0, sessionsOfPage)
        .map(({ id, isOwn: isThis, browser, system, address, since, lastSeen }): SignedIn => {
          const where = [parts.placeOf(address), address].filter((each) => (each ?? "") !== "");
          return { id, isThis, browser, system, where: where.join(" · "), since, lastSeen };
        });
      // This browser stands first.
      const ordered = sessions.toSorted((a, b) => Number(b.isThis) - Number(a.isThis));
      const view = { sessions: ordered, parts: partsAt(from, sessionsOfPage, result.length) };
      return own.show((page) => sessionsPage(page, view), { self: partOf(path, from) });
    },
    async post(own) {
      const id = valueOf(own.context, "end");
      const problems =
        id !== ""
          ? await taken(() => parts.signIns.end(own, id))
          : valueOf(own.context, "others") !== ""
            ? await tried(() => own.call(SessionService.method.endOtherSessions, {}))
            : [];
      if (problems.length > 0) return own.context.again({ problems });
      return own.done(path, "SESSIONS_ENDED");
    },
  });
