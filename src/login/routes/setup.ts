import type { JsonObject } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { hostName } from "../../authz/host.ts";
import { type Proof, recordProof, missingProof } from "../../resources/session/index.ts";
import { createTotpStore } from "../../resources/user/index.ts";
import { asUser } from "../as-user.ts";
import { setupPage } from "../pages/setup.ts";
import { setupPasskeyPage } from "../pages/setup-passkey.ts";
import { setupTotpPage } from "../pages/setup-totp.ts";
import { paths } from "../paths.ts";
import {
  missingIn,
  requireSession,
  type Route,
  type RouteParts,
  toProblems,
  valueOf,
} from "../route.ts";
import { unsavedCodes } from "../unsaved-codes.ts";
import { writing } from "../writing.ts";
import type { LoginSession } from "../sessions.ts";
import type { PageContext } from "../page-context.ts";
import type { LoginAnswer } from "../web.ts";
import { usualPasskeyName } from "../usual-passkey-name.ts";
import { credentialOf } from "./passkey.ts";

/** A second factor for who must have one and has none: an app with codes, or a passkey; recovery codes after it. */
export function setupRoutes(parts: RouteParts): Route[] {
  const { advance, users, call } = parts;

  /**
   * Only somebody whose first factor is proven, and who has no second one, sets one up here. Whoever has come back to a page of
   * it, or has sent its form twice, is led to where the flow is.
   */
  async function whereDue(
    context: PageContext,
    then: (session: LoginSession) => Promise<LoginAnswer>,
  ): Promise<LoginAnswer> {
    const session = await requireSession(parts, context);
    const isDue = missingProof(await advance.progressOf(context)) === "setup";
    return isDue ? then(session) : advance.next(context);
  }

  async function offered(context: PageContext): Promise<readonly ("totp" | "passkey")[]> {
    const { policy } = await advance.progressOf(context);
    const { secondFactors } = policy;
    return [
      ...(secondFactors.includes("totp") ? (["totp"] as const) : []),
      ...(secondFactors.includes("u2f") || policy.passkeysAllowed ? (["passkey"] as const) : []),
    ];
  }

  async function begin(
    context: PageContext,
    { user }: LoginSession,
    kind: "totp" | "passkey",
  ): Promise<LoginAnswer> {
    const caller = asUser(context, user);
    if (kind === "totp") {
      const made = await call(UserService.method.startTOTPRegistration, { id: user.id }, caller);
      const { totpId } = made;
      const uri = new URL(made.uri);
      uri.searchParams.delete("secret");
      await context.save({ ...context.flow.data, setup: { kind, totpId, uri: uri.href } });
      return context.go(paths.setupTotp);
    }
    const domain = hostName(new URL(context.at.issuer).host);
    const { webAuthNId, publicKeyCredentialCreationOptions: options = {} } = await call(
      UserService.method.startWebAuthNRegistration,
      { id: user.id, registration: { domain } },
      caller,
    );
    await context.save({ ...context.flow.data, setup: { kind, webAuthNId, options } });
    return context.go(paths.setupPasskey);
  }

  /** The new factor is proven in this session as well. */
  async function done(
    context: PageContext,
    session: LoginSession,
    proof: Proof,
  ): Promise<LoginAnswer> {
    const { setup: _, ...rest } = context.flow.data;
    await recordProof(parts, writing(context, session.user.id), { sessionId: session.id, proof });
    await context.save(rest);
    const { recoveryCodes: codes } = await call(
      UserService.method.generateRecoveryCodes,
      { id: session.user.id },
      asUser(context, session.user),
    );
    await unsavedCodes(parts.secrets).keep(context, session.id, codes);
    return advance.next(context);
  }

  const steps = { whereDue, done };

  return [
    {
      path: paths.setup,
      get: (context) =>
        whereDue(context, async ({ user }) => {
          const account = await users.account(context.at.instanceId, user.id);
          const memberships = await parts.deps.memberships.ofUser(context.at.instanceId, user.id);
          const isOwner = memberships.some(({ roles }) => roles.includes("IAM_OWNER"));
          const view = { account, factors: await offered(context), isOwner, canSkip: false };
          return context.show((page) => setupPage(page, view), { self: paths.setup });
        }),
      post: (context) =>
        whereDue(context, async (session) => {
          const wanted = valueOf(context, "factor");
          const kind = (await offered(context)).find((one) => one === wanted);
          return kind === undefined ? context.go(paths.setup) : begin(context, session, kind);
        }),
    },
    totpRoute(parts, steps),
    passkeyRoute(parts, steps),
  ];
}

type Steps = {
  whereDue(
    context: PageContext,
    then: (session: LoginSession) => Promise<LoginAnswer>,
  ): Promise<LoginAnswer>;
  done(context: PageContext, session: LoginSession, proof: Proof): Promise<LoginAnswer>;
};

function totpRoute(parts: RouteParts, { whereDue, done }: Steps): Route {
  const { call } = parts;
  const totps = createTotpStore(parts.secrets);

  async function showTotp(context: PageContext, { user }: LoginSession): Promise<LoginAnswer> {
    const { setup } = context.flow.data;
    if (setup?.kind !== "totp") return context.go(paths.setup);
    const at = { instanceId: context.at.instanceId, userId: user.id };
    const secret = await totps.read(at, setup.totpId);
    if (secret === undefined) return context.go(paths.setup);
    const uri = new URL(setup.uri);
    uri.searchParams.set("secret", secret);
    const view = { uri: uri.href, secret };
    return context.show((page) => setupTotpPage(page, view), { self: paths.setupTotp });
  }

  return {
    path: paths.setupTotp,
    get: (context) => whereDue(context, (session) => showTotp(context, session)),
    post: (context) => whereDue(context, (session) => verify(context, session)),
  };

  async function verify(context: PageContext, session: LoginSession): Promise<LoginAnswer> {
    const { setup } = context.flow.data;
    if (setup?.kind !== "totp") return context.go(paths.setup);
    const { id } = session.user;
    const missing = missingIn(context, ["code"]);
    if (missing.length > 0) return context.again({ problems: missing });
    const code = valueOf(context, "code").replaceAll(" ", "");
    const request = { id, totpId: setup.totpId, code };
    try {
      const caller = asUser(context, session.user);
      await call(UserService.method.verifyTOTPRegistration, request, caller);
    } catch (error) {
      toProblems(error);
      return context.again({ problems: [{ code: "TOTP_INVALID", field: "code" }] });
    }
    return done(context, session, { kind: "totp" });
  }
}

function passkeyRoute(parts: RouteParts, { whereDue, done }: Steps): Route {
  const { call, users } = parts;

  async function showPasskey(context: PageContext, { user }: LoginSession): Promise<LoginAnswer> {
    const { setup } = context.flow.data;
    if (setup?.kind !== "passkey") return context.go(paths.setup);
    const account = await users.account(context.at.instanceId, user.id);
    const view = { account, options: setup.options };
    return context.show((page) => setupPasskeyPage(page, view), {
      self: paths.setupPasskey,
    });
  }

  return {
    path: paths.setupPasskey,
    get: (context) => whereDue(context, (session) => showPasskey(context, session)),
    post: (context) => whereDue(context, (session) => create(context, session)),
  };

  async function create(context: PageContext, session: LoginSession): Promise<LoginAnswer> {
    const { setup } = context.flow.data;
    if (setup?.kind !== "passkey") return context.go(paths.setup);
    const { id } = session.user;
    const { webAuthNId } = setup;
    const publicKeyCredential: JsonObject = (await credentialOf(parts, context)) ?? {};
    const verify = { publicKeyCredential, webAuthNName: usualPasskeyName(context.language) };
    try {
      const request = { id, webAuthNId, verify };
      const caller = asUser(context, session.user);
      await call(UserService.method.verifyWebAuthNRegistration, request, caller);
    } catch (error) {
      const problems = toProblems(error);
      const taken = problems.some(({ code }) => code === "WEB_AUTH_N_TAKEN");
      const code = taken ? "WEB_AUTH_N_TAKEN" : "WEB_AUTH_N_INVALID";
      return context.again({ problems: [{ code }] });
    }
    return done(context, session, { kind: "webauthn", webAuthNId, isUserVerified: false });
  }
}
