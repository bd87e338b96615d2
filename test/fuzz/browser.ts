import assert from "node:assert/strict";
import fc from "fast-check";
import { accountPaths } from "../../src/account/paths.ts";
import { authorizeUrl } from "../support/login.ts";
import { formOf, userAgent } from "../support/user-agent.ts";
import { judgeAnswer, requireCleanPrototypes } from "./oracle.ts";
import { host, mostly, printable, type Target } from "./target.ts";

const parameters = [
  "client_id",
  "client_secret",
  "redirect_uri",
  "response_type",
  "response_mode",
  "scope",
  "state",
  "nonce",
  "prompt",
  "max_age",
  "login_hint",
  "id_token_hint",
  "code",
  "code_verifier",
  "code_challenge",
  "code_challenge_method",
  "grant_type",
  "refresh_token",
  "token",
  "token_type_hint",
  "assertion",
  "client_assertion",
  "client_assertion_type",
  "device_code",
  "user_code",
  "post_logout_redirect_uri",
  "request",
  "request_uri",
  "subject_token",
  "subject_token_type",
  "audience",
  "ui_locales",
  "acr_values",
];
const values = [
  "code",
  "token",
  "id_token token",
  "openid profile",
  "none",
  "login",
  "S256",
  "plain",
  "query",
  "form_post",
  "authorization_code",
  "refresh_token",
  "client_credentials",
  "urn:ietf:params:oauth:grant-type:jwt-bearer",
  "urn:ietf:params:oauth:grant-type:device_code",
  "urn:ietf:params:oauth:grant-type:token-exchange",
  "https://rp.test/cb",
  "https://rp.test/cb/",
  "javascript:alert(1)",
  "//evil.test",
  "-1",
  "99999999999999999999",
  "a.b.c",
  "eyJhbGciOiJub25lIn0.e30.",
  "idsvc_ac_1",
  "\u0000",
  "\r\nset-cookie: a=b",
  "é",
  "x".repeat(5_000),
];
const endpoints = [
  "/oauth/v2/authorize",
  "/oauth/v2/token",
  "/oauth/v2/introspect",
  "/oauth/v2/revoke",
  "/oauth/v2/device_authorization",
  "/oidc/v1/userinfo",
  "/oidc/v1/end_session",
  "/oauth/v2/keys",
  "/.well-known/openid-configuration",
];

/** The endpoints of the provider, with parameters that come twice, in the wrong place or not at all. */
const oidc: Target = {
  name: "oidc",
  property: (peer) => {
    const known = peer.addClient();
    return fc.asyncProperty(
      fc.constantFrom(...endpoints),
      fc.boolean(),
      fc.array(
        fc.tuple(fc.constantFrom(...parameters), fc.oneof(fc.constantFrom(...values), fc.string())),
        { maxLength: 9 },
      ),
      fc.oneof(
        fc.constant(undefined),
        fc.string(),
        fc.constantFrom("Bearer a.b.c", "Basic YTpi", "Basic %%%", "DPoP a", "Bearer"),
      ),
      mostly,
      async (path, isUsual, given, authorization, ofClient) => {
        const { clientId } = await known;
        const isPost = /token|introspect|revoke|device/.test(path) === isUsual;
        const all = new URLSearchParams(given);
        if (ofClient) all.set("client_id", clientId);
        const headers = {
          ...host(peer),
          "content-type": "application/x-www-form-urlencoded",
          ...(authorization === undefined ? {} : { authorization: printable(authorization) }),
        };
        const request = isPost
          ? { method: "POST", path, headers, body: all.toString() }
          : { method: "GET", path: `${path}?${all}`, headers };
        judgeAnswer(await peer.peer.send(request));
      },
    );
  },
};

const forms = [
  "",
  "/loginname",
  "/password",
  "/accounts",
  "/idp",
  "/passkey",
  "/mfa",
  "/mfa/totp",
  "/mfa/email",
  "/mfa/recovery",
  "/mfa/setup",
  "/register",
  "/register/account",
  "/verify",
  "/verify/email",
  "/password/forgot",
  "/password/reset",
  "/password/change",
  "/consent",
  "/device",
  "/device/confirm",
  "/logout",
  "/logout/done",
  "/signedin",
  "/error",
  "/assets/a.js",
];
const fields = [
  "login_name",
  "password",
  "code",
  "csrf",
  "request",
  "flow",
  "new_password",
  "email",
  "given_name",
  "family_name",
  "user_code",
  "user_id",
  "id",
  "credential",
  "action",
  "form",
  "address",
  "nickname",
  "preferred_language",
  "remove",
  "link",
  "end",
  "revoke",
  "from",
];

const pages = [...forms.map((form) => `/ui/login${form}`), ...Object.values(accountPaths)];

/** The forms of the login and of accounts, without the steps before them. */
const login: Target = {
  name: "login-forms",
  property: (peer) =>
    fc.asyncProperty(
      fc.constantFrom(...pages),
      fc.boolean(),
      fc.array(
        fc.tuple(fc.constantFrom(...fields), fc.oneof(fc.constantFrom(...values), fc.string())),
        { maxLength: 6 },
      ),
      fc.option(fc.string(), { nil: undefined }),
      async (path, isPost, given, cookie) => {
        const sent = new URLSearchParams(given).toString();
        const headers = {
          ...host(peer),
          origin: peer.issuer,
          "content-type": "application/x-www-form-urlencoded",
          ...(cookie === undefined
            ? {}
            : { cookie: `__Host-idsvc=${printable(cookie)}; idsvc=${printable(cookie)}` }),
        };
        const request = isPost
          ? { method: "POST", path, headers, body: sent }
          : { method: "GET", path: `${path}?${sent}`, headers };
        judgeAnswer(await peer.peer.send(request));
      },
    ),
};

/** A login on its way, whose forms bring what nobody types. */
const steps: Target = {
  name: "login-steps",
  share: 0.1,
  property: (peer) => {
    const known = peer.addClient();
    const step = fc.dictionary(
      fc.constantFrom(...fields),
      fc.oneof(fc.constantFrom(...values, peer.app.made.admin.login_name), fc.string()),
      { maxKeys: 4 },
    );
    return fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (given) => {
      const agent = userAgent(peer.issuer);
      await agent.open(authorizeUrl(peer, await known));
      for (const each of given) {
        if (!agent.last.html.includes('<form method="post"')) break;
        const { status, html } = await agent.submit(each);
        assert.ok(status < 500 || status === 503, `${status}: ${html.slice(0, 500)}`);
        assert.doesNotMatch(html, /<script>alert|\n\s+at .*\.ts:\d+/);
        requireCleanPrototypes();
      }
    });
  },
};

/** The pages of the account of who is signed in. */
const account: Target = {
  name: "account-forms",
  share: 0.1,
  property: (peer) => {
    const { login_name, password } = peer.app.made.admin;
    const said = fc.dictionary(
      fc.constantFrom(...fields, "begin", "make", "others", "send", "name"),
      fc.oneof(fc.constantFrom(...values), fc.string()),
      { maxKeys: 5 },
    );
    const form = fc.tuple(fc.constantFrom(...Object.values(accountPaths)), fc.boolean(), said);
    return fc.asyncProperty(fc.array(form, { minLength: 1, maxLength: 4 }), async (given) => {
      const agent = userAgent(peer.issuer);
      await agent.open(accountPaths.overview);
      await agent.submit({ login_name });
      await agent.submit({ password });
      for (const [path, isPost, all] of given) {
        const { csrf = "" } = formOf((await agent.open(accountPaths.remove)).html).fields;
        const body = new URLSearchParams({ ...all, csrf });
        const headers = { origin: peer.issuer };
        const shown = await (isPost
          ? agent.open(path, { method: "POST", body, headers })
          : agent.open(`${path}?${body}`));
        const { status, html } = shown;
        assert.ok(status < 500 || status === 503, `${status}: ${html.slice(0, 500)}`);
        assert.doesNotMatch(html, /<script>alert|\n\s+at .*\.ts:\d+/);
        requireCleanPrototypes();
      }
    });
  },
};

export const browserTargets: readonly Target[] = [oidc, login, steps, account];
