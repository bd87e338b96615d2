// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { attributes, html, type Value } from "../../src/html.ts";
import { formPostPage } from "../../src/login/pages/form-post.ts";
import { outwardLink } from "../../src/login/parts/form.ts";
import { texts } from "../../src/texts/texts.ts";

const hostile = `<b>&"'`;
const escaped = "&lt;b&gt;&amp;&quot;&#39;";

describe("a value in a template", () => {
  it("is text, between tags, in quotes and in lists", () => {
    const given = html`<p title="${hostile}">${hostile}${[hostile, html`<i>${hostile}</i>`]}</p>`;
    assert.equal(
      given.toString(),
      `<p title="${escaped}">${escaped}${escaped}<i>${escaped}</i></p>`,
    );
  });

  it("is left out when there is none", () => {
    assert.equal(html`<p>${undefined}${false}${0}${""}</p>`.toString(), "<p>0</p>");
  });

  const misplaced: Record<string, () => unknown> = {
    "in an attribute without quotes": () => html`<p title=${hostile}></p>`,
    "in a script": () => html`<script nonce="${hostile}">x = "${hostile}"</script>`,
    "in the name of a tag": () => html`<${hostile}>`,
    "in a tag, as text": () => html`<p ${hostile}></p>`,
    "in quotes, as markup": () => html`<p title="${html`<b>`}"></p>`,
    "between tags, as attributes": () => html`<p>${attributes({ id: "x" })}</p>`,
    "in a style, as text": () => html`<style>p { color: ${"red}"} }</style>`,
    "in a style, as markup": () => html`<style>${html`p`}</style>`,
    "that only looks like markup": () =>
      html`<p>${{ kind: "markup", toString: () => hostile } as unknown as Value}</p>`,
  };
  for (const [place, make] of Object.entries(misplaced)) {
    it(`is refused ${place}`, () => {
      assert.throws(make, TypeError);
    });
  }

  it("may be a colour in a style, and stand after it", () => {
    const given = html`<style nonce="${"n"}">p { color: ${"#17594a"} }</style><p>${hostile}</p>`;
    assert.equal(
      given.toString(),
      `<style nonce="n">p { color: #17594a }</style><p>${escaped}</p>`,
    );
  });
});

describe("attributes", () => {
  it("are quoted and escaped; true writes the name alone", () => {
    const all = { id: hostile, required: true, hidden: false, value: undefined, maxlength: 3 };
    assert.equal(
      html`<input ${attributes(all)}>`.toString(),
      `<input id="${escaped}" required maxlength="3">`,
    );
  });

  for (const name of ["onclick", "style", `x onload`, `a="`, "HREF"]) {
    it(`are refused by the name ${name}`, () => {
      assert.throws(() => attributes({ [name]: "x" }), TypeError);
    });
  }
});

describe("an address from outside (D54)", () => {
  for (const url of ["javascript:alert(1)", "data:text/html,x", "//evil.test", "x", ""]) {
    it(`is no link when it is none of the web: ${url}`, () => {
      assert.equal(outwardLink(url, "Back").toString(), "Back");
    });

    it(`takes no form: ${url}`, () => {
      const page = {
        language: "en",
        languages: [],
        t: texts("en"),
        nonce: "",
        branding: { productName: "x", theme: "auto" },
        csrf: "",
      } as const;
      assert.throws(() => formPostPage(page, { app: "x", action: url, parameters: [] }), TypeError);
    });
  }

  it("is a link when it is one", () => {
    assert.match(
      outwardLink("https://a.example/?x=1&y", "Back").toString(),
      /href="https:\/\/a\.example\/\?x=1&amp;y"/,
    );
  });
});
