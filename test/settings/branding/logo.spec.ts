// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createHash } from "node:crypto";
import { brandingReader } from "../../../src/settings/policy/branding.ts";
import { logoProperties, logos } from "../../../src/settings/policy/logo.ts";
import { eq } from "../../../src/storage/drizzle.ts";
import { addSecondInstance } from "../../api/abuse.ts";
import { until } from "../../jobs/place.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { systemCaller } from "../../support/system-caller.ts";
import { of, startSettingsPeer, system } from "../settings-peer.ts";
import { images, noImages } from "./images.ts";

const operator = systemCaller();
const service = await startSettingsPeer("branding", { env: operator.env });
const { app, peer, deps, set, settingsOf, instanceId, instance, addOrganization } = service;
const { eventsOf, remove } = service;
after(() => service[Symbol.asyncDispose]());

const png = images["image/png"];
const webp = images["image/webp"];
const digestOf = (content: Uint8Array) => createHash("sha256").update(content).digest("base64url");
const fetchLogo = (url: string, method = "GET", host = "localhost:8080") =>
  peer.send({ method, path: new URL(url).pathname, headers: { host } });
for (const property of logoProperties) {
  describe(`the property ${property} of the branding settings`, () => {
    const logo = (content: Uint8Array) => ({
      [property]: { set: Buffer.from(content).toString("base64") },
    });
    const noLogo = { [property]: { reset: true } };
    const rowsOf = async (owner: string) => {
      const t = deps.db.table(logos[property]);
      return deps.db.read.select().from(t).where(eq(t.ownerId, owner));
    };
    const logoOf = async (query = "") => (await settingsOf(query))[property];

    for (const [mediaType, content] of Object.entries(images)) {
      it(`is ${mediaType} by what it holds, and served to everybody as such`, async () => {
        const { details } = bodyOf(await set(logo(content)));
        const told = await logoOf();
        assert.deepEqual(told, {
          url: `${app.made.issuer}/ui/logos/${digestOf(content)}`,
          media_type: mediaType,
        });
        const { status, headers, body } = await fetchLogo(told.url);
        assert.equal(status, 200);
        assert.deepEqual(body, content);
        assert.equal(headers["content-type"], mediaType);
        assert.equal(headers["x-content-type-options"], "nosniff");
        assert.equal(headers["content-security-policy"], "default-src 'none'; sandbox");
        assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
        assert.deepEqual(bodyOf(await set(logo(content))).details, details, "nothing differs");
        const last = (await eventsOf("branding", instanceId)).at(-1);
        const value = `${mediaType} ${digestOf(content)}`;
        assert.deepEqual(last, [`branding.instance.${property}.set`, { value }]);
        bodyOf(await set(noLogo));
      });
    }

    for (const [what, content] of Object.entries(noImages)) {
      it(`is not ${what}`, async () => {
        const { refusal } = await set({ ...logo(content), theme: { set: "dark" } });
        assertRefused(refusal, {
          code: 3,
          reason: "LOGO_NOT_AN_IMAGE",
          field: `settings.${property}`,
        });
        const { theme, [property]: kept } = await settingsOf();
        assert.deepEqual([theme.value, kept.url], ["auto", ""], "nothing is stored");
      });
    }

    it("has at most 512 KiB, and at least a byte", async () => {
      const field = `settings.${property}`;
      const invalid = { code: 3, reason: "VALIDATION_FAILED", field };
      const padded = (size: number) => Buffer.concat([png, Buffer.alloc(size - png.length)]);
      assertRefused((await set(logo(Buffer.alloc(0)))).refusal, invalid);
      assertRefused((await set(logo(padded(512 * 1024 + 1)))).refusal, invalid);
      const largest = padded(512 * 1024);
      bodyOf(await set(logo(largest)));
      const { body } = await fetchLogo((await logoOf()).url);
      assert.deepEqual(body, largest);
      bodyOf(await set(noLogo));
    });

    it("is inherited by organizations, replaced there, and gone once it is", async () => {
      const organization = await addOrganization();
      bodyOf(await set(logo(png)));
      const inherited = await logoOf(of(organization));
      assert.deepEqual(inherited.owner, instance);
      bodyOf(await set(logo(webp), of(organization)));
      const own = await logoOf(of(organization));
      assert.deepEqual([own.media_type, own.owner], ["image/webp", undefined]);
      const all = await brandingReader(deps.db)(instanceId, organization);
      const read = property === "logo" ? all.logo : all.logoDark;
      const { etag, path, mediaType } = read ?? {};
      assert.deepEqual([etag, mediaType], [digestOf(webp), "image/webp"]);
      assert.equal(`${app.made.issuer}${path}`, own.url);
      const content = await read?.read();
      assert.deepEqual(Buffer.from(content?.bytes ?? []), webp);

      bodyOf(await set(logo(png), of(organization)));
      assert.equal(await read?.read(), undefined, "what was replaced is gone");
      assertRefused((await peer.rest("GET", new URL(own.url).pathname)).refusal, {
        code: 5,
        reason: "LOGO_NOT_FOUND",
      });
      bodyOf(await set(noLogo));
      assert.equal((await rowsOf(instanceId)).length, 0);
      assert.equal((await fetchLogo(inherited.url)).status, 200, "the organization has the same");
      bodyOf(await set(noLogo, of(organization)));
      assert.deepEqual(await logoOf(of(organization)), { url: "", media_type: "", owner: system });
      assert.equal((await fetchLogo(inherited.url)).status, 404);
    });

    it("goes with its organization", async () => {
      const organization = await addOrganization();
      bodyOf(await set(logo(webp), of(organization)));
      assert.equal((await rowsOf(organization)).length, 1);
      bodyOf(await remove(`/organizations/${organization}`));
      await until(async () => (await rowsOf(organization)).length === 0, "the logo is removed");
    });

    it("is not served on the hosts of other instances, nor by another method", async () => {
      bodyOf(await set(logo(png)));
      const { url } = await logoOf();
      const other = await addSecondInstance(app, `${property.replace("_", "-")}.test`);
      assert.equal((await fetchLogo(url, "GET", other.host)).status, 404);
      assert.equal((await fetchLogo(url, "GET", "unknown.test")).status, 404);
      assert.equal((await fetchLogo(url, "POST")).status, 405);
      const head = await fetchLogo(url, "HEAD");
      assert.deepEqual([head.status, head.headers["content-type"]], [200, "image/png"]);
      assert.equal(head.body.length, 0);
      bodyOf(await set(noLogo));
    });

    it("stands in no event and in no answer of the settings", async () => {
      const marked = Buffer.concat([png, Buffer.from("a mark in the logo")]);
      bodyOf(await set(logo(marked)));
      const told = JSON.stringify([await eventsOf("branding", instanceId), await settingsOf()]);
      assert.ok(!told.includes(marked.toString("base64").slice(-16)));
      bodyOf(await set(noLogo));
    });
  });
}
