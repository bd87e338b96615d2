import { askedFor } from "../asked.ts";
import { deviceConfirmPage } from "../pages/device-confirm.ts";
import { deviceDonePage } from "../pages/device-done.ts";
import { devicePage } from "../pages/device.ts";
import { paths } from "../paths.ts";
import { requireSession, type Route, type RouteParts, valueOf } from "../route.ts";
import { writing } from "../writing.ts";
import { toBrowserSession } from "../sessions.ts";
import { PageRefused, type Shown, type Visit } from "../visit.ts";

const longest = 40;

/** Letting a device in by the code that it shows (RFC 8628 section 3.3): who asks for what is confirmed by name. */
export function deviceRoutes(parts: RouteParts): Route[] {
  const { advance, appOf, consents, devices, people, sessions } = parts;

  function show(visit: Visit, shown: Shown) {
    const userCode = (visit.form.get("user_code") ?? visit.query.get("user_code") ?? "").slice(
      0,
      longest,
    );
    const view = userCode === "" ? {} : { userCode };
    const self = `${paths.device}${userCode === "" ? "" : `?${new URLSearchParams({ user_code: userCode })}`}`;
    return visit.show((page) => devicePage(page, view), { ...shown, self });
  }

  /** What waits, for whoever has logged in for it. @throws PageRefused */
  async function waiting(visit: Visit) {
    const session = await requireSession(parts, visit);
    const { device, outcome } = visit.flow.data;
    if (device?.requestId === undefined || outcome !== "done")
      throw new PageRefused("FLOW_NOT_FOUND", 400);
    const proven = toBrowserSession(session);
    const found = await devices.waiting(visit.at, device.requestId);
    const app = found && (await appOf(visit.at.instanceId, found.request.clientId));
    return proven && found && app && { session: proven, app, ...found };
  }

  const expired = (visit: Visit) => visit.go(paths.device, { problem: "USER_CODE_INVALID" });

  return [
    {
      path: paths.device,
      async get(visit) {
        if (!visit.hasFlow) await visit.save({});
        const isWrong = visit.query.get("problem") === "USER_CODE_INVALID";
        return show(visit, isWrong ? { problems: [{ code: "USER_CODE_INVALID" }] } : {});
      },
      async post(visit) {
        const typed = valueOf(visit, "user_code");
        const found = await devices.find(visit.at, typed);
        if (found === undefined) {
          const problems = [{ code: "USER_CODE_INVALID", field: "user_code" }] as const;
          return visit.again({ problems });
        }
        const { agent, at } = visit;
        const all = await Promise.all(
          agent.sessionIds.map((id) => sessions.find(at.instanceId, id)),
        );
        const living = all.filter((session) => session !== undefined);
        const [only, ...others] = living;
        await visit.save({
          device: { requestId: found.id },
          ...(only !== undefined && others.length === 0 ? { sessionId: only.id } : {}),
          ...(others.length > 0 ? { begin: "select_account" } : {}),
        });
        return advance.next(visit);
      },
    },
    {
      path: paths.deviceConfirm,
      async get(visit) {
        const found = await waiting(visit);
        if (found === undefined) return expired(visit);
        const { request, session, userCode, app } = found;
        const account = await people.account(visit.at.instanceId, session.user.id);
        const asking = { app, scope: request.scope };
        const asked = await askedFor(parts, visit.at.instanceId, session.user, asking);
        const view = { ...asked, account, userCode };
        return visit.show((page) => deviceConfirmPage(page, view), { self: paths.deviceConfirm });
      },
      async post(visit) {
        const found = await waiting(visit);
        if (found === undefined) return expired(visit);
        const { request, session, app } = found;
        const isAllowed = valueOf(visit, "consent") === "allow";
        if (isAllowed) {
          const given = { scope: request.scope, choice: valueOf(visit, "access") };
          await consents.give(writing(visit, session.user.id), session.user, app, given);
        }
        const isDecided = isAllowed
          ? await devices.approve(visit.at, request, session)
          : await devices.deny(visit.at, request);
        if (!isDecided) throw new PageRefused("NOT_ALLOWED", 403);
        return visit.go(paths.deviceDone, { outcome: isAllowed ? "allowed" : "denied" });
      },
    },
    {
      path: paths.deviceDone,
      get: (visit) => {
        const outcome = visit.query.get("outcome") === "allowed" ? "allowed" : "denied";
        return visit.show((page) => deviceDonePage(page, { outcome }), { hasForms: false });
      },
    },
  ];
}
