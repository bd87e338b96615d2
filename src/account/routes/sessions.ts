import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { GetSession } from "#gen/idsvc/resources/session/v3alpha/session_pb.ts";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { type Route, valueOf } from "../../login/route.ts";
import { type AccountParts, atMost, type Own, ownRoute } from "../own.ts";
import { type SignedIn, sessionsPage } from "../pages/sessions.ts";
import { accountPaths } from "../paths.ts";
import { taken } from "../problems.ts";
import { whereSessionsBegan } from "../where.ts";

const { method } = SessionService;
const path = accountPaths.sessions;
const most = 20;
const ofOnePage = 100;

/** Where the person is signed in, and the end of it. */
export function sessionsRoute(parts: AccountParts): Route {
  const whereOf = whereSessionsBegan(parts);

  const search = async ({ call, user }: Own, limit: number): Promise<GetSession[]> => {
    const filters = [{ filter: { case: "userId" as const, value: user.id } }];
    const { result } = await call(method.searchSessions, {
      query: { limit },
      filters: [...filters],
    });
    return result;
  };

  const end = (own: Own, id: string) => taken(() => own.call(method.deleteSession, { id }));

  /** All but the one that asks; one after the other, until none is found. */
  async function endOthers(own: Own): Promise<void> {
    for (;;) {
      const all = await search(own, atMost(parts, ofOnePage));
      const others = all.flatMap(({ details }) => details?.id ?? []);
      const left = others.filter((id) => id !== own.session.id);
      if (left.length === 0) return;
      for (const id of left) await end(own, id);
    }
  }

  return ownRoute(parts, {
    path,
    async get(own) {
      const found = await search(own, atMost(parts, most + 1));
      const ids = found.flatMap(({ details }) => details?.id ?? []);
      const where = await whereOf(own, ids);
      const sessions = found.slice(0, most).map((session): SignedIn => {
        const id = session.details?.id ?? "";
        const { description = "", ip = "" } = session.userAgent ?? {};
        // What a login client says of its browser stands where nobody has seen one.
        const { browser = description, system = "", address = ip } = where.get(id) ?? {};
        return {
          ...{ id, isThis: id === own.session.id, browser, system, address },
          since: session.creationDate,
          lastSeen: lastSeen(session),
        };
      });
      // The one that is looked with stands first.
      const ordered = sessions.toSorted((a, b) => Number(b.isThis) - Number(a.isThis));
      const view = { sessions: ordered, hasMore: found.length > most };
      return own.show((page) => sessionsPage(page, view));
    },
    async post(own) {
      const id = valueOf(own.context, "end");
      if (id !== "") {
        const problems = await end(own, id);
        if (problems.length > 0) return own.context.again({ problems });
      } else if (valueOf(own.context, "others") !== "") await endOthers(own);
      return own.done(path, "SESSIONS_ENDED");
    },
  });
}

/** When the person last proved something there. */
function lastSeen({ details, creationDate, factors }: GetSession): Timestamp | undefined {
  const { password, webAuthN, intent, totp, otpSms, otpEmail, recoveryCode } = factors ?? {};
  const proofs = [password, webAuthN, intent, totp, otpSms, otpEmail, recoveryCode];
  return [creationDate, details?.changeDate, ...proofs.map((each) => each?.verifiedAt)]
    .filter((each) => each !== undefined)
    .toSorted((a, b) => timestampMs(b) - timestampMs(a))[0];
}
