import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { SignInService } from "#gen/idsvc/resources/signin/v3alpha/sign_in_service_pb.ts";
import { type Route, valueOf } from "../../login/route.ts";
import { type AccountParts, atMost, ownRoute } from "../own.ts";
import { type SignedIn, sessionsPage } from "../pages/sessions.ts";
import { accountPaths } from "../paths.ts";
import { taken, tried } from "../problems.ts";

const path = accountPaths.sessions;
const most = 20;

/** Where the person is signed in, and the end of it. */
export const sessionsRoute = (parts: AccountParts): Route =>
  ownRoute(parts, {
    path,
    async get(own) {
      const { result } = await own.call(SignInService.method.searchSignIns, {
        query: { limit: atMost(parts, most + 1) },
        filters: [{ filter: { case: "userId", value: own.user.id } }],
      });
      const sessions = result
        .slice(0, most)
        .map(({ details, isOwn: isThis, ...signIn }): SignedIn => {
          const { browser, system, address, since, lastSeen } = signIn;
          const where = [parts.placeOf(address), address].filter((each) => (each ?? "") !== "");
          const id = details?.id ?? "";
          return { id, isThis, browser, system, where: where.join(" · "), since, lastSeen };
        });
      // This browser stands first.
      const ordered = sessions.toSorted((a, b) => Number(b.isThis) - Number(a.isThis));
      const view = { sessions: ordered, hasMore: result.length > most };
      return own.show((page) => sessionsPage(page, view));
    },
    async post(own) {
      const id = valueOf(own.context, "end");
      const problems =
        id !== ""
          ? await taken(() => own.call(SignInService.method.deleteSignIn, { id }))
          : valueOf(own.context, "others") !== ""
            ? await tried(() => own.call(SessionService.method.endOtherSessions, {}))
            : [];
      if (problems.length > 0) return own.context.again({ problems });
      return own.done(path, "SESSIONS_ENDED");
    },
  });
