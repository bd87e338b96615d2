// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assetAt, assetPath } from "../../src/login/assets.ts";
import { pageHeaders } from "../../src/login/headers.ts";

const form = { nonce: "n0nce", isTls: false, hasForms: true };

describe("the headers of a page", () => {
  it("let nothing run or load but what is ours", () => {
    assert.deepEqual(directives(form), {
      "default-src": "'none'",
      "style-src": "'self' 'nonce-n0nce'",
      "script-src": "'self' 'nonce-n0nce'",
      "img-src": "'self' data:",
      "form-action": "'self'",
      "frame-ancestors": "'none'",
      "base-uri": "'none'",
    });
  });

  it("are all there, whatever the page", () => {
    assert.partialDeepStrictEqual(pageHeaders(form), {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    });
  });

  it("ask for TLS only under TLS", () => {
    const plain = pageHeaders(form);
    assert.equal(plain["strict-transport-security"], undefined);
    assert.doesNotMatch(plain["content-security-policy"] ?? "", /upgrade-insecure-requests/);
    const secure = pageHeaders({ ...form, isTls: true });
    assert.equal(secure["strict-transport-security"], "max-age=31536000");
    assert.match(secure["content-security-policy"] ?? "", /; upgrade-insecure-requests$/);
  });

  it("do not ask for TLS where the form leads to an address without", () => {
    const policy = directives({ ...form, isTls: true, formTargets: ["http://127.0.0.1:7/cb"] });
    assert.equal(policy["form-action"], "'self' http://127.0.0.1:7");
    assert.equal("upgrade-insecure-requests" in policy, false);
  });

  it("let a form lead to the origin, or the scheme, of an address that was proven", () => {
    const formTargets = [
      "https://app.example/cb?x=1",
      "https://app.example/other",
      "com.example.app:/cb",
    ];
    assert.equal(
      directives({ ...form, formTargets })["form-action"],
      "'self' https://app.example com.example.app:",
    );
  });

  it("cannot be widened by what an address holds", () => {
    const formTargets = [
      "https://a.example;script-src *",
      "javascript:alert(1)",
      "data:text/html,x",
      "* ; x",
    ];
    const policy = directives({ ...form, formTargets, frameOrigins: ["'self'", "*"] });
    assert.equal(policy["form-action"], "'self'");
    assert.equal(policy["frame-ancestors"], "'none'");
    assert.equal(policy["script-src"], "'self' 'nonce-n0nce'");
  });

  it("let only the origins frame a page that may", () => {
    const headers = pageHeaders({ ...form, frameOrigins: ["https://portal.example/", "x"] });
    assert.match(
      headers["content-security-policy"] ?? "",
      /frame-ancestors https:\/\/portal\.example;/,
    );
    assert.equal(headers["x-frame-options"], undefined);
  });

  it("tell where the reader comes from only among ourselves, and only with forms", () => {
    assert.equal(pageHeaders(form)["referrer-policy"], "same-origin");
    assert.equal(pageHeaders({ ...form, hasForms: false })["referrer-policy"], "no-referrer");
  });
});

describe("an asset", () => {
  for (const [name, contentType] of [
    ["login.css", "text/css; charset=utf-8"],
    ["login.js", "text/javascript; charset=utf-8"],
    ["passkey.js", "text/javascript; charset=utf-8"],
    ["icon.svg", "image/svg+xml"],
  ] as const) {
    it(`is found by a path with the hash of its content, and kept for ever: ${name}`, () => {
      const path = assetPath(name);
      assert.match(path, /^\/ui\/login\/assets\/\w+\.[0-9a-f]{16}\.\w+$/);
      const asset = assetAt(path);
      assert.equal(asset?.contentType, contentType);
      assert.match(asset?.cacheControl ?? "", /immutable/);
      assert.ok((asset?.body.length ?? 0) > 100);
    });
  }

  for (const path of [
    "/ui/login/assets/login.css",
    "/ui/login/assets/../html.ts",
    "/ui/login/assets/",
    "__proto__",
  ]) {
    it(`is not found at ${path}`, () => {
      assert.equal(assetAt(path), undefined);
    });
  }
});

const directives = (page: Parameters<typeof pageHeaders>[0]): Record<string, string> =>
  Object.fromEntries(
    (pageHeaders(page)["content-security-policy"] ?? "").split("; ").map((directive) => {
      const [name = "", ...sources] = directive.split(" ");
      return [name, sources.join(" ")];
    }),
  );
