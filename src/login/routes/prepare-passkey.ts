import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { hostName } from "../../authz/host.ts";
import { DomainError } from "../../errors.ts";
import { asUser } from "../as-user.ts";
import type { PageContext } from "../page-context.ts";
import { preparePasskeyPage } from "../pages/prepare-passkey.ts";
import { paths } from "../paths.ts";
import { requireSession, type Route, type RouteParts } from "../route.ts";
import type { LoginSession } from "../sessions.ts";
import { usualPasskeyName } from "../usual-passkey-name.ts";
import type { LoginAnswer } from "../web.ts";
import { credentialOf } from "./passkey.ts";

const { method } = UserService;

/** A browser makes a passkey by itself, right after a log-in by password. Nothing that goes wrong with it is told, or holds up. */
export function preparePasskeyRoute(parts: RouteParts): Route {
  const { advance, call } = parts;

  const whereDue =
    (act: (context: PageContext, session: LoginSession) => Promise<LoginAnswer>) =>
    async (context: PageContext) => {
      const session = await requireSession(parts, context);
      const isDue = (await advance.stepOf(context)) === "preparePasskey";
      return isDue ? act(context, session) : advance.next(context);
    };

  async function goOn(context: PageContext): Promise<LoginAnswer> {
    const { preparing: _, ...rest } = context.flow.data;
    await context.save(rest);
    return advance.next(context);
  }

  async function begin(context: PageContext, { user }: LoginSession) {
    const { id } = user;
    const domain = hostName(new URL(context.at.issuer).host);
    const request = { id, registration: { domain, conditional: true } };
    const caller = asUser(context, user);
    const { webAuthNId, publicKeyCredentialCreationOptions: options = {} } = await call(
      method.startWebAuthNRegistration,
      request,
      caller,
    );
    await context.save({ ...context.flow.data, preparing: { asked: { webAuthNId, options } } });
    return options;
  }

  async function add(context: PageContext, { user }: LoginSession): Promise<void> {
    const { webAuthNId } = context.flow.data.preparing?.asked ?? {};
    const publicKeyCredential = await credentialOf(parts, context);
    if (webAuthNId === undefined || publicKeyCredential === undefined) return;
    const webAuthNName = usualPasskeyName(context.language);
    const verify = { publicKeyCredential, webAuthNName };
    const request = { id: user.id, webAuthNId, verify };
    await call(method.verifyWebAuthNRegistration, request, asUser(context, user));
  }

  return {
    path: paths.preparePasskey,
    get: whereDue(async (context, session) => {
      const asked = context.flow.data.preparing?.asked?.options;
      const options = asked ?? (await unlessRefused(() => begin(context, session)));
      if (options === undefined) return goOn(context);
      return context.show((page) => preparePasskeyPage(page, { options }), {
        self: paths.preparePasskey,
      });
    }),
    post: whereDue(async (context, session) => {
      await unlessRefused(() => add(context, session));
      return goOn(context);
    }),
  };
}

/** What came of it; undefined where the service refused. */
async function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}
