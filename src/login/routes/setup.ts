import type { JsonObject } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { hostName } from "../../authz/host.ts";
import { type Proof, recordProof } from "../../resources/session/index.ts";
import { createTotpStore } from "../../resources/user/index.ts";
import { asUser } from "../as-user.ts";
import { setupPage } from "../pages/setup.ts";
import { setupPasskeyPage } from "../pages/setup-passkey.ts";
import { setupRecoveryCodesPage } from "../pages/setup-recovery-codes.ts";
import { setupTotpPage } from "../pages/setup-totp.ts";
import { paths } from "../paths.ts";
import { requireSession, type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import { writing } from "../writing.ts";
import type { LoginSession } from "../sessions.ts";
import { missingProof } from "../../resources/session/index.ts";
import { PageRefused, type Visit } from "../visit.ts";
import type { LoginAnswer } from "../web.ts";
import { credentialOf } from "./passkey.ts";

const usualName = "login";

/** A second factor for who must have one and has none: an app with codes, or a passkey; recovery codes after it. */
export function setupRoutes(parts: RouteParts): Route[] {
  const { advance, people, call } = parts;
  const totps = createTotpStore(parts.secrets);

  /** Only somebody whose first factor is proven, and who has no second one, sets one up here. */
  async function requireDue(visit: Visit): Promise<LoginSession> {
    const session = await requireSession(parts, visit);
    if (missingProof(await advance.progressOf(visit)) === "setup") return session;
    throw new PageRefused("FLOW_NOT_FOUND", 400);
  }

  async function offered(visit: Visit): Promise<readonly ("totp" | "passkey")[]> {
    const { policy } = await advance.progressOf(visit);
    const { secondFactors } = policy;
    return [
      ...(secondFactors.includes("totp") ? (["totp"] as const) : []),
      ...(secondFactors.includes("u2f") || policy.passkeysAllowed ? (["passkey"] as const) : []),
    ];
  }

  async function begin(visit: Visit, kind: "totp" | "passkey"): Promise<LoginAnswer> {
    const { user } = await requireDue(visit);
    const caller = asUser(visit, user);
    if (kind === "totp") {
      const made = await call(UserService.method.startTOTPRegistration, { id: user.id }, caller);
      const { totpId } = made;
      const uri = new URL(made.uri);
      uri.searchParams.delete("secret");
      await visit.save({ ...visit.flow.data, setup: { kind, totpId, uri: uri.href } });
      return visit.go(paths.setupTotp);
    }
    const domain = hostName(new URL(visit.at.issuer).host);
    const { webAuthNId, publicKeyCredentialCreationOptions: options = {} } = await call(
      UserService.method.startWebAuthNRegistration,
      { id: user.id, registration: { domain } },
      caller,
    );
    await visit.save({ ...visit.flow.data, setup: { kind, webAuthNId, options } });
    return visit.go(paths.setupPasskey);
  }

  /** The new factor is proven in this session as well. */
  async function done(visit: Visit, session: LoginSession, proof: Proof): Promise<LoginAnswer> {
    const { setup: _, ...rest } = visit.flow.data;
    await recordProof(parts, writing(visit, session.user.id), { sessionId: session.id, proof });
    await visit.save(rest);
    const { recoveryCodes: codes } = await call(
      UserService.method.generateRecoveryCodes,
      { id: session.user.id },
      asUser(visit, session.user),
    );
    // What is seen once stands in no address: the one form that is answered with a page.
    return visit.show((page) => setupRecoveryCodesPage(page, { codes }));
  }

  async function showTotp(visit: Visit): Promise<LoginAnswer> {
    const { user } = await requireDue(visit);
    const { setup } = visit.flow.data;
    if (setup?.kind !== "totp") return visit.go(paths.setup);
    const at = { instanceId: visit.at.instanceId, userId: user.id };
    const secret = await totps.read(at, setup.totpId);
    if (secret === undefined) return visit.go(paths.setup);
    const uri = new URL(setup.uri);
    uri.searchParams.set("secret", secret);
    const view = { uri: uri.href, secret };
    return visit.show((page) => setupTotpPage(page, view), { self: paths.setupTotp });
  }

  async function showPasskey(visit: Visit): Promise<LoginAnswer> {
    const { user } = await requireDue(visit);
    const { setup } = visit.flow.data;
    if (setup?.kind !== "passkey") return visit.go(paths.setup);
    const account = await people.account(visit.at.instanceId, user.id);
    const view = { account, options: setup.options };
    return visit.show((page) => setupPasskeyPage(page, view), {
      self: paths.setupPasskey,
    });
  }

  return [
    {
      path: paths.setup,
      async get(visit) {
        const { user } = await requireDue(visit);
        const account = await people.account(visit.at.instanceId, user.id);
        const held = await parts.deps.memberships.ofUser(visit.at.instanceId, user.id);
        const isOwner = held.some(({ roles }) => roles.includes("IAM_OWNER"));
        const view = { account, factors: await offered(visit), isOwner, canSkip: false };
        return visit.show((page) => setupPage(page, view), { self: paths.setup });
      },
      async post(visit) {
        const wanted = valueOf(visit, "factor");
        const kind = (await offered(visit)).find((one) => one === wanted);
        return kind === undefined ? visit.go(paths.setup) : begin(visit, kind);
      },
    },
    {
      path: paths.setupTotp,
      get: showTotp,
      async post(visit) {
        const session = await requireDue(visit);
        const { setup } = visit.flow.data;
        if (setup?.kind !== "totp") return visit.go(paths.setup);
        const { id } = session.user;
        const code = valueOf(visit, "code").replaceAll(" ", "");
        const request = { id, totpId: setup.totpId, code };
        try {
          const caller = asUser(visit, session.user);
          await call(UserService.method.verifyTOTPRegistration, request, caller);
        } catch (error) {
          toProblems(error);
          return visit.again({ problems: [{ code: "CODE_INVALID", field: "code" }] });
        }
        return done(visit, session, { kind: "totp" });
      },
    },
    {
      path: paths.setupPasskey,
      get: showPasskey,
      async post(visit) {
        const session = await requireDue(visit);
        const { setup } = visit.flow.data;
        if (setup?.kind !== "passkey") return visit.go(paths.setup);
        const { id } = session.user;
        const { webAuthNId } = setup;
        const publicKeyCredential: JsonObject = (await credentialOf(parts, visit)) ?? {};
        const verify = { publicKeyCredential, webAuthNName: usualName };
        try {
          const request = { id, webAuthNId, verify };
          const caller = asUser(visit, session.user);
          await call(UserService.method.verifyWebAuthNRegistration, request, caller);
        } catch (error) {
          const problems = toProblems(error);
          const taken = problems.some(({ code }) => code === "WEB_AUTH_N_TAKEN");
          const code = taken ? "WEB_AUTH_N_TAKEN" : "WEB_AUTH_N_INVALID";
          return visit.again({ problems: [{ code }] });
        }
        return done(visit, session, { kind: "webauthn", webAuthNId, isUserVerified: false });
      },
    },
    // The codes are shown only once: there is nothing to come back to.
    {
      path: paths.setupRecoveryCodes,
      get: (visit) => advance.next(visit),
      post: (visit) => advance.next(visit),
    },
  ];
}
