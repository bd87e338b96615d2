import { askedFor } from "../asked.ts";
import { deviceConfirmPage } from "../pages/device-confirm.ts";
import { deviceDonePage } from "../pages/device-done.ts";
import { devicePage } from "../pages/device.ts";
import { asGuess } from "../counted.ts";
import { paths } from "../paths.ts";
import { missingIn, requireSession, type Route, type RouteParts, valueOf } from "../route.ts";
import { writing } from "../writing.ts";
import { toBrowserSession } from "../sessions.ts";
import { PageRefused, type Shown, type PageContext } from "../page-context.ts";

const longest = 40;

/** Letting a device in by the code that it shows (RFC 8628 section 3.3): who asks for what is confirmed by name. */
export function deviceRoutes(parts: RouteParts): Route[] {
  const { advance, consents, devices, users, sessions } = parts;

  return [
    {
      path: paths.device,
      async get(context) {
        if (!context.hasFlow) await context.save({});
        const isWrong = context.query.get("problem") === "USER_CODE_INVALID";
        return show(context, isWrong ? { problems: [{ code: "USER_CODE_INVALID" }] } : {});
      },
      async post(context) {
        const missing = missingIn(context, ["user_code"]);
        if (missing.length > 0) return context.again({ problems: missing });
        const typed = valueOf(context, "user_code");
        const find = () => devices.find(context.at, typed);
        const found = await asGuess(parts, context, find, (one) => one !== undefined);
        if (found === undefined) {
          const problems = [{ code: "USER_CODE_INVALID", field: "user_code" }] as const;
          return context.again({ problems });
        }
        const { agent, at } = context;
        const all = await Promise.all(
          agent.sessionIds.map((id) => sessions.find(at.instanceId, id)),
        );
        const living = all.filter((session) => session !== undefined);
        const [only, ...others] = living;
        await context.save({
          device: { requestId: found.id },
          ...(only !== undefined && others.length === 0 ? { sessionId: only.id } : {}),
          ...(others.length > 0 ? { begin: "select_account" } : {}),
        });
        return advance.next(context);
      },
    },
    {
      path: paths.deviceConfirm,
      async get(context) {
        const found = await waiting(parts, context);
        if (found === undefined) return expired(context);
        const { request, session, userCode, app } = found;
        const account = await users.account(context.at.instanceId, session.user.id);
        const asking = { app, scope: request.scope };
        const asked = await askedFor(parts, context.at.instanceId, session.user, asking);
        const view = { ...asked, account, userCode };
        return context.show((page) => deviceConfirmPage(page, view), { self: paths.deviceConfirm });
      },
      async post(context) {
        const found = await waiting(parts, context);
        if (found === undefined) return expired(context);
        const { request, session, app } = found;
        const isAllowed = valueOf(context, "consent") === "allow";
        if (isAllowed) {
          const given = { scope: request.scope, choice: valueOf(context, "access") };
          await consents.give(writing(context, session.user.id), session.user, app, given);
        }
        const isDecided = isAllowed
          ? await devices.approve(context.at, request, session)
          : await devices.deny(context.at, request);
        if (!isDecided) throw new PageRefused("NOT_ALLOWED", 403);
        return context.go(paths.deviceDone, { outcome: isAllowed ? "allowed" : "denied" });
      },
    },
    {
      path: paths.deviceDone,
      get: (context) => {
        const outcome = context.query.get("outcome") === "allowed" ? "allowed" : "denied";
        return context.show((page) => deviceDonePage(page, { outcome }), { hasForms: false });
      },
    },
  ];
}

const expired = (context: PageContext) =>
  context.go(paths.device, { problem: "USER_CODE_INVALID" });

/** What waits, for whoever has logged in for it. @throws PageRefused */
async function waiting(parts: RouteParts, context: PageContext) {
  const session = await requireSession(parts, context);
  const { device, outcome } = context.flow.data;
  if (device?.requestId === undefined || outcome !== "done")
    throw new PageRefused("FLOW_NOT_FOUND", 400);
  const proven = toBrowserSession(session);
  const found = await parts.devices.waiting(context.at, device.requestId);
  const app = found && (await parts.appOf(context.at.instanceId, found.request.clientId));
  return proven && found && app && { session: proven, app, ...found };
}

function show(context: PageContext, shown: Shown) {
  const userCode = (context.form.get("user_code") ?? context.query.get("user_code") ?? "").slice(
    0,
    longest,
  );
  const view = userCode === "" ? {} : { userCode };
  const self = `${paths.device}${userCode === "" ? "" : `?${new URLSearchParams({ user_code: userCode })}`}`;
  return context.show((page) => devicePage(page, view), { ...shown, self });
}
