// Run: shared, browser, turns
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addPersonNamed, authorizeUrl, password } from "../support/login.ts";
import { settingsPath } from "../support/login-pages.ts";
import { bodyOf } from "../support/peer.ts";
import { systemCaller } from "../support/system-caller.ts";
import { turns } from "../support/turns.ts";
import { images } from "../settings/branding/images.ts";
import { desktop, type Journeys, phone, startJourneys } from "./journey.ts";

const operator = systemCaller();
let journeys: Journeys;

before(async () => {
  journeys = await startJourneys({ options: { env: operator.env } });
});
after(() => journeys[Symbol.asyncDispose]());

describe("the answer by form_post in a browser", () => {
  for (const javaScriptEnabled of [true, false]) {
    const scripts = javaScriptEnabled ? "with scripts by itself" : "without scripts by a button";
    it(`reaches the app ${scripts}, errors too`, async () => {
      const { peer, app } = journeys;
      const alice = await addPersonNamed(peer);
      const from = app.login({ response_mode: "form_post" });
      await using journey = await journeys.begin({ from, javaScriptEnabled, viewport: phone });
      await journey.signIn(alice.loginName);
      const posted = async (picture: string) => {
        if (!javaScriptEnabled) {
          await journey.at("/oauth/v2/authorize/callback", picture);
          await journey.submit();
        }
        return journey.home();
      };
      const { claims, method } = await posted("form-post");
      assert.deepEqual([claims?.sub, method], [alice.id, "POST"]);
      const scope = { response_mode: "form_post", scope: "profile" };
      await journey.page.goto(app.login(scope));
      if (!javaScriptEnabled) {
        await journey.at("/oauth/v2/authorize");
        await journey.submit();
      }
      const refused = await journey.home();
      assert.deepEqual([refused.error, refused.method], ["invalid_scope", "POST"]);
    });
  }
});

describe("consent in a browser", () => {
  it("is asked of users of another organization; both answers reach the app", async () => {
    const { peer, app } = journeys;
    const organization = await peer.addOrganization({ domain: "guest.test" });
    const owner = await peer.addMember(organization, ["ORG_OWNER"]);
    const guest = {
      username: "guest",
      data: { given_name: "Gina", family_name: "Guest" },
      authenticators: { password: { password } },
    };
    const headers = { "x-idsvc-orgid": organization };
    bodyOf(await peer.post("/users", guest, { headers, token: owner.token }), 201);
    const from = app.login({ scope: "openid profile email offline_access" });
    await using journey = await journeys.begin({ from });
    const { page } = journey;
    await journey.signIn("guest@guest.test");
    await journey.at("/ui/login/consent");
    await page.getByText("Don’t allow").click();
    assert.equal((await journey.home()).error, "access_denied");
    await page.goto(from);
    await journey.at("/ui/login/consent");
    await page.getByRole("link", { name: "Not you?" }).click();
    await journey.at("/ui/login/accounts", "consent-accounts");
    await page.goBack();
    await journey.at("/ui/login/consent");
    await journey.submit();
    assert.equal((await journey.home()).userinfo?.name, "Gina Guest");
    await page.goto(app.login({ scope: "openid profile", prompt: "none" }));
    assert.equal((await journey.home()).error, undefined);
  });
});

describe("the page for devices in a browser", () => {
  const javaScriptEnabled = turns()([false, true]);
  it(`lets a device in ${javaScriptEnabled ? "with" : "without"} scripts`, async () => {
    const { peer } = journeys;
    const alice = await addPersonNamed(peer);
    const tv = await peer.addClient({
      app_type: "OIDC_APP_TYPE_NATIVE",
      auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE",
      redirect_uris: [],
      grant_types: ["OIDC_GRANT_TYPE_DEVICE_CODE"],
    });
    const client_id = tv.clientId;
    const asked = { client_id, scope: "openid profile" };
    const { body } = await peer.send("/oauth/v2/device_authorization", asked);
    const from = body.verification_uri;
    await using journey = await journeys.begin({ from, javaScriptEnabled, viewport: phone });
    await journey.at("/device");
    await journey.submit({ user_code: "WRNG-CODE" });
    await journey.at("/device", "device-wrong");
    await journey.submit({ user_code: body.user_code.toLowerCase() });
    await journey.signIn(alice.loginName);
    await journey.at("/ui/login/device/confirm");
    assert.ok(await journey.page.getByText(body.user_code).isVisible());
    await journey.submit();
    await journey.at("/ui/login/device/done");
    const { status } = await peer.send("/oauth/v2/token", {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: body.device_code,
      client_id,
    });
    assert.equal(status, 200);
  });
});

describe("logout in a browser", () => {
  const end = (more: Record<string, string>) =>
    `${journeys.peer.issuer}/oidc/v1/end_session?${new URLSearchParams(more)}`;

  it("goes back to the app at once with a hint, and asks without one", async () => {
    const { peer, app } = journeys;
    const alice = await addPersonNamed(peer);
    await using journey = await journeys.begin();
    const { page } = journey;
    await journey.signIn(alice.loginName);
    const { tokens } = await journey.home();
    const back = { post_logout_redirect_uri: `${app.origin}/bye`, state: "s" };
    await page.goto(end({ id_token_hint: tokens?.id_token ?? "", ...back }));
    await page.waitForURL(`${app.origin}/bye?state=s`);

    await page.goto(app.login());
    await journey.signIn(alice.loginName);
    await journey.home();
    await page.goto(end({ client_id: app.client.clientId, ...back }));
    await journey.at("/ui/login/logout");
    await page.getByText("Stay signed in").click();
    await journey.at("/ui/account", "stay");
    await page.goto(end({ client_id: app.client.clientId, ...back }));
    await journey.at("/ui/login/logout");
    await journey.submit();
    await page.waitForURL(`${app.origin}/bye?state=s`);
    await page.goto(end({}));
    await journey.at("/ui/login/logout/done");
    await page.getByText("Sign in again").click();
    await journey.at("/ui/login/loginname", "again");
  });
});

describe("the language in a browser", () => {
  it("is that of the browser, then of the app, then the one chosen, and that is remembered", async () => {
    const { peer, app } = journeys;
    const alice = await addPersonNamed(peer);
    await using journey = await journeys.begin({ locale: "fr-FR", viewport: phone });
    const { page } = journey;
    const language = () => page.getAttribute("html", "lang");
    await journey.at("/ui/login/loginname", "french");
    assert.equal(await language(), "fr");
    await page.goto(app.login({ ui_locales: "xx de-CH en" }));
    await journey.at("/ui/login/loginname", "german");
    assert.equal(await language(), "de");
    await page.click(".languages summary");
    await journey.at("/ui/login/loginname", "languages");
    await page.getByRole("button", { name: "日本語" }).click();
    await journey.at("/ui/login/loginname", "japanese");
    assert.equal(await language(), "ja");
    // Also on the next page of this login, whatever the app wished.
    await journey.submit({ login_name: alice.loginName });
    await journey.at("/ui/login/password", "japanese-password");
    assert.equal(await language(), "ja");
    await journey.submit({ password });
    await journey.home();
    await page.goto(app.login({ prompt: "login" }));
    await journey.at("/ui/login/password");
    assert.equal(await language(), "ja");
  });
});

describe("the branding of an organization in a browser", () => {
  it("counts for logins that are bound to it: product, colours, logo", async () => {
    const { peer, app } = journeys;
    const organization = await peer.addOrganization({ name: "Rosewood" });
    const settings = {
      product_name: { set: "Rosewood ID" },
      primary_color: { set: "#be185d" },
      background_color: { set: "#fdf2f8" },
      logo: { set: images["image/png"].toString("base64") },
    };
    const path = `${settingsPath}/branding?ctx.org_id=${organization}`;
    bodyOf(await peer.peer.rest("PATCH", path, settings, { token: peer.app.token }));
    const scope = `openid urn:idsvc:iam:org:id:${organization}`;
    for (const colorScheme of ["light", "dark"] as const) {
      await using journey = await journeys.begin({ from: app.login({ scope }), colorScheme });
      const { page } = journey;
      await journey.at("/ui/login/loginname", `branded-${colorScheme}`);
      assert.match(await page.title(), /Rosewood ID$/);
      const logo = page.locator("img.logo");
      assert.equal(await logo.getAttribute("alt"), "Rosewood ID");
      assert.equal(await logo.evaluate((image) => (image as HTMLImageElement).naturalWidth), 1);
      const colour = await page
        .locator("#submit")
        .evaluate((b) => getComputedStyle(b).backgroundColor);
      if (colorScheme === "light") assert.equal(colour, "rgb(190, 24, 93)");
    }
    await using plain = await journeys.begin();
    await plain.at("/ui/login/loginname");
    assert.doesNotMatch(await plain.page.title(), /Rosewood/);
  });
});

describe("errors in a browser", () => {
  const errorOf = "main[data-error]";

  it("have a page that says what is wrong, for people and for programs", async () => {
    const { peer, app } = journeys;
    await using journey = await journeys.begin({ viewport: phone });
    const { page } = journey;
    const { issuer } = peer;
    const asked = authorizeUrl(peer, app.client);
    for (const [url, code, picture] of [
      [authorizeUrl(peer, { clientId: "nobody" }), "CLIENT_UNKNOWN", "client"],
      [asked, "REDIRECT_URI_INVALID", "redirect"],
      [`${issuer}/ui/login/password?flow=gone`, "FLOW_NOT_FOUND", "flow"],
      [`${issuer}/ui/login/password`, "FLOW_NOT_FOUND", "no-flow"],
      [`${issuer}/ui/login/nothing/here`, "NOT_FOUND", "nothing"],
      [`${issuer}/ui/login/mfa/totp`, "FLOW_NOT_FOUND", "totp"],
    ] as const) {
      await page.goto(url);
      assert.equal(await page.getAttribute(errorOf, "data-error"), code);
      await journey.at(new URL(url).pathname, `error-${picture}`);
    }
  });

  it("a browser without cookies is told to allow them", async () => {
    await using journey = await journeys.begin();
    await journey.page.context().clearCookies();
    await journey.submit({ login_name: "x" });
    await journey.at("/ui/login/loginname", "no-cookies");
    assert.equal(await journey.page.getAttribute(errorOf, "data-error"), "FORM_REFUSED");
  });

  it("the page of an instance that is blocked says so, wherever the browser comes", async () => {
    const { peer, app } = journeys;
    const path = `/resources/v3alpha/instances/${peer.app.made.instance_id}/_limit`;
    const block = async (isBlocked: boolean) => {
      const token = await operator.tokenFor(peer.issuer, peer.now());
      bodyOf(await peer.peer.rest("POST", path, { block: isBlocked }, { token }));
    };
    await block(true);
    try {
      await using journey = await journeys.begin({ viewport: desktop });
      const { page } = journey;
      await journey.at("/oauth/v2/authorize", "blocked");
      assert.equal(await page.getAttribute(errorOf, "data-error"), "INSTANCE_BLOCKED");
      for (const url of ["/ui/login/loginname", "/oidc/v1/end_session", "/device"]) {
        const answer = await page.goto(`${peer.issuer}${url}`);
        assert.equal(answer?.status(), 503);
        assert.equal(answer?.headers()["retry-after"], "3600");
        assert.equal(await page.getAttribute(errorOf, "data-error"), "INSTANCE_BLOCKED");
      }
    } finally {
      await block(false);
    }
    await using again = await journeys.begin();
    await again.page.goto(app.login());
    await again.at("/ui/login/loginname");
  });
});
