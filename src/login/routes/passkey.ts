import type { JsonObject } from "@bufbuild/protobuf";
import { openProvenSession } from "../../resources/session/index.ts";
import { constantTime } from "../../constant-time.ts";
import { passkeyPage } from "../pages/passkey.ts";
import { paths } from "../paths.ts";
import { passkeyOptions } from "../passkey-options.ts";
import { proveInSession } from "../prove.ts";
import { isMeant, type Route, type RouteParts } from "../route.ts";
import { writing } from "../writing.ts";
import { trustIfSaid, trustOffered } from "../trust.ts";
import type { Shown, PageContext } from "../page-context.ts";

/**
 * Passkeys and keys: as second factor of who is known already, or as the only one, of whoever the passkey says it belongs
 * to.
 */
export function passkeyRoute(parts: RouteParts): Route {
  const { advance, users, checks, policyOf } = parts;
  const { refusals } = constantTime(50);

  async function show(context: PageContext, shown: Shown) {
    const { data } = context.flow;
    const session = await advance.sessionOf(context);
    if (data.key === undefined || session === undefined) {
      if (data.passkey === undefined) return context.go(paths.loginName);
      const options = passkeyOptions(data.passkey.challenge, data.passkey.domain);
      const view = { kind: "passkey", options, otherWay: "loginName" } as const;
      return context.show((page) => passkeyPage(page, view), { ...shown, self: paths.passkey });
    }
    const account = await users.account(context.at.instanceId, session.user.id);
    const { options } = data.key;
    const trust = await trustOffered(parts, context);
    const view = { kind: "securityKey", account, options, otherWay: "mfaChoice", trust } as const;
    return context.show((page) => passkeyPage(page, view), { ...shown, self: paths.passkey });
  }

  /** Whose passkey it is, it says itself; the session is theirs. */
  async function openByPasskey(
    context: PageContext,
    credential: JsonObject,
    asked: { challenge: string; domain: string },
  ): Promise<boolean> {
    const { instanceId } = context.at;
    const { id } = credential;
    const credentialId = typeof id === "string" ? id : "";
    const userId = await users.byCredential(instanceId, credentialId);
    const at = writing(context, userId ?? "system:login");
    const outcome = await checks.webAuthN.checkDiscovered(at, userId, { ...asked, credential });
    if (!outcome.isRight || userId === undefined) return false;
    if (!(await isMeant(parts, context, userId))) return false;
    const { sessionLifetimeMs, passkeysAllowed } = await policyOf(context.tenant);
    if (!passkeysAllowed) return false;
    const { webAuthNId, isUserVerified } = outcome;
    const proof = { kind: "webauthn", webAuthNId, isUserVerified } as const;
    const opened = { userId, proof, lifetimeMs: sessionLifetimeMs };
    const sessionId = await openProvenSession(parts, { ...at, browser: context.agent.id }, opened);
    if (sessionId === undefined) return false;
    await context.save({ ...context.flow.data, sessionId, isChosen: true });
    return true;
  }

  return {
    path: paths.passkey,
    get: (context) => show(context, {}),
    async post(context) {
      const { data } = context.flow;
      const credential = await credentialOf(parts, context);
      const session = await advance.sessionOf(context);
      const { key, passkey, ...rest } = data;
      // Whatever comes of it, a challenge counts once.
      await context.save(rest);
      let isRight = false;
      if (credential !== undefined && key !== undefined && session !== undefined) {
        const given = { webAuthN: { credentialAssertionData: credential } };
        const proved = await refusals(() => proveInSession(parts, context, session.id, given));
        ({ isRight } = proved);
        if (isRight) await trustIfSaid(parts, context, session.user.id);
      } else if (credential !== undefined && passkey !== undefined) {
        isRight = await openByPasskey(context, credential, passkey);
      }
      if (isRight) return advance.next(context);
      const problem = "WEB_AUTH_N_INVALID";
      return context.go(session === undefined ? paths.loginName : paths.mfa, { problem });
    },
  };
}

/** What the browser made with a passkey, on a page of the log-in itself; undefined for everything else. */
export async function credentialOf(
  { checks }: RouteParts,
  { form, at }: PageContext,
): Promise<JsonObject | undefined> {
  const credential = readJson(form.get("credential"));
  if (credential === undefined) return undefined;
  const { origin } = new URL(at.issuer);
  return (await checks.webAuthN.isFrom(at.instanceId, origin, credential)) ? credential : undefined;
}

function readJson(json: string | undefined): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(json ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}
