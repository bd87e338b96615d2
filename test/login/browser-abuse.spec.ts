// Run: shared, browser
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { password } from "../support/login.ts";
import { settingsPath } from "../support/login-pages.ts";
import { bodyOf } from "../support/peer.ts";
import { type RelyingParty, startRelyingParty } from "../support/relying-party.ts";
import { type Journeys, phone, startJourneys } from "./journey.ts";

let journeys: Journeys;

before(async () => {
  journeys = await startJourneys();
});
after(() => journeys[Symbol.asyncDispose]());

// Each breaks out of another place: an element, an attribute in either quote, a script, an address, a style.
const payloads: [string, string, ...string[]] = [
  `<script>alert(1)</script>`,
  `"><img src=x onerror=alert(2)>`,
  `'><svg onload=alert(3)>`,
  `</title></style></script><script>alert(4)`,
  `}</style><style>body{display:none}</style>`,
];
const all = payloads.join("");

describe("D78: what is no text of ours", () => {
  it("runs nowhere: names of apps, organizations, products and people, and what requests say", async () => {
    const { peer } = journeys;
    const { token } = peer.app;
    const organization = await peer.addOrganization({
      name: `${payloads[0]}${payloads[1]}`,
      domain: "xss.test",
    });
    const branding = `${settingsPath}/branding?ctx.org_id=${organization}`;
    const product = { product_name: { set: all } };
    bodyOf(await peer.peer.rest("PATCH", branding, product, { token }));
    const owner = await peer.addMember(organization, ["ORG_OWNER"]);
    const headers = { "x-idsvc-orgid": organization };
    const person = {
      username: "mallory",
      data: { given_name: payloads[0], family_name: payloads[1], display_name: all },
      authenticators: { password: { password } },
    };
    bodyOf(await peer.post("/users", person, { headers, token: owner.token }), 201);
    await using app: RelyingParty = await startRelyingParty(peer, {}, { name: all });
    const scope = `openid profile urn:idsvc:iam:org:id:${organization} ${payloads[0]}`;
    const said = { login_hint: all, ui_locales: all, display: all, acr_values: all, scope };

    for (const javaScriptEnabled of [true, false]) {
      const from = app.login({ ...said, response_mode: "form_post" });
      await using journey = await journeys.begin({ from, javaScriptEnabled, viewport: phone });
      const { page } = journey;
      const isWhole = async () => {
        assert.ok(await page.locator("main").isVisible(), page.url());
        assert.equal(await page.locator("img[src=x], svg[onload]").count(), 0, page.url());
      };
      await journey.at("/ui/login/loginname", "xss-name");
      await isWhole();
      assert.equal(await page.inputValue("#login-name"), all);
      assert.ok((await page.title()).endsWith(all));
      assert.ok((await page.locator(".lead").innerText()).includes(all));
      await page.getByText("Create an account").click();
      await journey.at("/ui/login/register", "xss-register");
      await journey.submit({ given_name: all, family_name: all });
      await isWhole();
      await page.goto(from);
      await journey.submit({ login_name: all });
      await journey.at("/ui/login/password", "xss-password");
      await isWhole();
      await page.goto(from);
      await journey.submit({ login_name: "mallory@xss.test" });
      await journey.at("/ui/login/password");
      await journey.submit({ password });
      // Consent is given once, in the first round.
      if (javaScriptEnabled) {
        await journey.at("/ui/login/consent", "xss-consent");
        await isWhole();
        await journey.submit();
      }
      if (!javaScriptEnabled) {
        await journey.at("/oauth/v2/authorize/callback", "xss-form-post");
        await journey.submit();
      }
      await page.waitForURL((url) => url.origin === app.origin);
      assert.equal(app.last().error, undefined);
      for (const [path, shown] of [
        ["/ui/login/accounts", "/ui/login/accounts"],
        ["/ui/account", "/ui/account"],
        ["/oidc/v1/end_session", "/ui/login/logout"],
      ] as const) {
        await page.goto(`${peer.issuer}${path}`);
        await journey.at(shown, "xss");
        await isWhole();
      }
    }
  });

  it("runs on no error page: state, error and address of a request", async () => {
    const { peer, app } = journeys;
    await using journey = await journeys.begin();
    const { page } = journey;
    const asked = (more: Record<string, string>) =>
      `${peer.issuer}/oauth/v2/authorize?${new URLSearchParams({
        client_id: app.client.clientId,
        redirect_uri: `${app.origin}/cb`,
        ...more,
      })}`;
    for (const [url, status] of [
      [asked({ client_id: all }), 400],
      [asked({ redirect_uri: all, state: all }), 400],
      [asked({ redirect_uri: "javascript:alert(1)" }), 400],
      [`${peer.issuer}/ui/login/password?flow=${encodeURIComponent(all)}`, 400],
      [`${peer.issuer}/ui/login/loginname?problem=${encodeURIComponent(all)}`, 200],
      [`${peer.issuer}/ui/login?problem=__proto__&notice=${encodeURIComponent(all)}`, 200],
      [`${peer.issuer}/ui/login/loginname?ui_locales=${encodeURIComponent(all)}`, 200],
      [`${peer.issuer}/device?user_code=${encodeURIComponent(all)}`, 200],
      [`${peer.issuer}/ui/login/verify?code=${encodeURIComponent(all)}`, 400],
      [`${peer.issuer}/ui/login/${encodeURIComponent(all)}`, 404],
      [
        `${peer.issuer}/ui/login/password/reset?${new URLSearchParams({ login_name: all, code: all })}`,
        200,
      ],
    ] as const) {
      const answer = await page.goto(url);
      assert.equal(answer?.status(), status, url);
      assert.ok(await page.locator("main").isVisible(), url);
      assert.equal(await page.locator("img[src=x], svg[onload]").count(), 0, url);
    }
    // An answer that is posted holds the state as it was.
    const state = `${all}\r\n\u{1f511}`;
    const posted = asked({ response_type: "code", response_mode: "form_post", scope: "x", state });
    await page.goto(posted);
    await page.waitForURL((url) => url.origin === app.origin);
  });
});

describe("D78: framing", () => {
  it("is refused to pages of others, unless the settings allow their origin", async () => {
    const { peer, app, browser } = journeys;
    const framed = createServer((_, response) =>
      response
        .writeHead(200, { "content-type": "text/html" })
        .end(
          `<!doctype html><link rel="icon" href="data:,"><iframe src="${app.login()}"></iframe>`,
        ),
    );
    await once(framed.listen(0, "127.0.0.1"), "listening");
    const evil = `http://localhost:${(framed.address() as AddressInfo).port}`;
    const look = async () => {
      await using visit = await browser.visit();
      // A page is loaded once its frames are, or have failed.
      await visit.page.goto(evil);
      const frame = visit.page.frames()[1];
      assert.ok(frame !== undefined);
      const isShown = await frame.locator("#login-name").isVisible();
      return { isShown, isError: frame.url().startsWith("chrome-error:") };
    };
    const set = async (value: JsonObject) => {
      const path = `${settingsPath}/security`;
      const { token } = peer.app;
      bodyOf(await peer.peer.rest("PATCH", path, { allowed_frame_origins: value }, { token }));
    };
    try {
      assert.deepEqual(await look(), { isShown: false, isError: true });
      await set({ set: { value: [evil] } });
      assert.equal((await look()).isShown, true);
      await set({ set: { value: ["https://portal.test"] } });
      assert.equal((await look()).isShown, false);
    } finally {
      await set({ reset: true });
      framed.closeAllConnections();
      framed.close();
    }
  });
});
