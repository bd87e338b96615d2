import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { hostName } from "../../authz/host.ts";
import { missingIn, type Route, valueOf } from "../../login/route.ts";
import { credentialOf } from "../../login/routes/passkey.ts";
import type { LoginAnswer } from "../../login/web.ts";
import { knownPasskeys } from "../../resources/user/index.ts";
import { type AccountParts, type Own, ownRoute } from "../own.ts";
import { makerOf } from "../passkey-makers.ts";
import {
  newPasskeyPage,
  passkeyNamePage,
  passkeysOfPage,
  passkeysPage,
} from "../pages/passkeys.ts";
import { newestOf, partOf } from "../parts/pager.ts";
import { accountPaths } from "../paths.ts";
import { taken, tried } from "../problems.ts";
import { isLastWayIn, waysIn } from "../ways-in.ts";

const { method } = UserService;

/** Passkeys and security keys: seen, added, renamed and removed. */
export function passkeyRoutes(parts: AccountParts): Route[] {
  const knownOf = knownPasskeys(parts.deps);

  async function remove(own: Own, webAuthNId: string): Promise<LoginAnswer> {
    const isLast = isLastWayIn(await waysIn(own), { webAuthNId });
    if (isLast) return own.context.again({ problems: [{ code: "LAST_WAY_IN" }] });
    const request = { id: own.user.id, webAuthNId };
    const problems = await taken(() => own.call(method.removeWebAuthNAuthenticator, request));
    if (problems.length > 0) return own.context.again({ problems });
    return own.done(accountPaths.passkeys, "REMOVED");
  }

  async function begin(own: Own): Promise<LoginAnswer> {
    const missing = missingIn(own.context, ["name"]);
    if (missing.length > 0) return own.context.again({ problems: missing });
    const domain = hostName(new URL(own.context.at.issuer).host);
    const request = { id: own.user.id, registration: { domain } };
    const { webAuthNId, publicKeyCredentialCreationOptions: options = {} } = await own.call(
      method.startWebAuthNRegistration,
      request,
    );
    await own.keep({ passkey: { webAuthNId, name: valueOf(own.context, "name"), options } });
    return own.context.go(accountPaths.newPasskey);
  }

  async function create(own: Own): Promise<LoginAnswer> {
    const { passkey } = own.work ?? {};
    if (passkey === undefined) return own.done(accountPaths.passkeys);
    const { webAuthNId, name: webAuthNName } = passkey;
    const publicKeyCredential = (await credentialOf(parts, own.context)) ?? {};
    const verify = { publicKeyCredential, webAuthNName };
    const problems = await tried(() =>
      own.call(method.verifyWebAuthNRegistration, { id: own.user.id, webAuthNId, verify }),
    );
    if (problems.length === 0) {
      await own.proved({ kind: "webauthn", webAuthNId, isUserVerified: false });
      return own.done(accountPaths.passkeys, "PASSKEY_ADDED");
    }
    const isTaken = problems.some(({ code }) => code === "WEB_AUTH_N_TAKEN");
    const code = isTaken ? "WEB_AUTH_N_TAKEN" : "WEB_AUTH_N_INVALID";
    return own.context.again({ problems: [{ code }] });
  }

  return [
    ownRoute(parts, {
      path: accountPaths.passkeys,
      async get(own) {
        const all = (await waysIn(own))?.webAuthN ?? [];
        const { shown, from, parts: around } = newestOf(all, own.context, passkeysOfPage);
        const passkeys = shown.map(
          ({ webAuthNId, name, isVerified, creationDate, lastUseDate, aaguid }) => ({
            id: webAuthNId,
            name,
            since: creationDate,
            lastUse: lastUseDate,
            isPrepared: !isVerified,
            maker: makerOf(aaguid),
          }),
        );
        const of = { instanceId: own.context.at.instanceId, userId: own.user.id };
        const known = await knownOf(of, hostName(new URL(own.context.at.issuer).host));
        const view = { passkeys, known, parts: around };
        return own.show((page) => passkeysPage(page, view), {
          self: partOf(accountPaths.passkeys, from),
        });
      },
      post: (own) => {
        const id = valueOf(own.context, "remove");
        return id === "" ? begin(own) : remove(own, id);
      },
    }),
    ownRoute(parts, {
      path: accountPaths.newPasskey,
      async get(own) {
        const { passkey } = own.work ?? {};
        if (passkey === undefined) return own.done(accountPaths.passkeys);
        return own.show((page) => newPasskeyPage(page, { options: passkey.options }));
      },
      post: create,
    }),
    ownRoute(parts, { path: accountPaths.passkeyName, get: showName, post: rename }),
  ];
}

/** The one that a page is about; undefined where they have none of the id. */
async function passkeyIn(own: Own) {
  const id = valueOf(own.context, "passkey") || (own.context.query.get("passkey") ?? "");
  return (await waysIn(own))?.webAuthN.find(({ webAuthNId }) => webAuthNId === id);
}

async function showName(own: Own): Promise<LoginAnswer> {
  const passkey = await passkeyIn(own);
  if (passkey === undefined) return own.done(accountPaths.passkeys);
  const name = own.context.form.get("name") ?? passkey.name;
  return own.show((page) => passkeyNamePage(page, { id: passkey.webAuthNId, name }));
}

async function rename(own: Own): Promise<LoginAnswer> {
  const passkey = await passkeyIn(own);
  if (passkey === undefined) return own.done(accountPaths.passkeys);
  const missing = missingIn(own.context, ["name"]);
  if (missing.length > 0) return own.context.again({ problems: missing });
  const { webAuthNId } = passkey;
  const request = { id: own.user.id, webAuthNId, webAuthNName: valueOf(own.context, "name") };
  const problems = await tried(
    () => own.call(method.renameWebAuthNAuthenticator, request),
    ["name"],
  );
  if (problems.length > 0) return own.context.again({ problems });
  return own.done(accountPaths.passkeys, "SAVED");
}
