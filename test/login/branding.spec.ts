// Run: shared
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { paletteOf, surfaceOf } from "../../src/settings/policy/palette.ts";
import { contrast, parseColour } from "../../src/settings/policy/colours.ts";
import { samples } from "./samples.ts";

const themes = ["light", "dark"] as const;
const parts = ["00", "33", "80", "cc", "ff"];
const cube = parts.flatMap((red) =>
  parts.flatMap((green) => parts.map((blue) => `#${red}${green}${blue}`)),
);

const styles = readFileSync(new URL("../../src/login/assets/login.css", import.meta.url), "utf8");
const [light, dark] = [...styles.matchAll(/--sunken: (#\w+)/g)].map(([, text = ""]) =>
  parseColour(text),
);
const sunken = { light, dark };

describe("the colours of a brand", () => {
  for (const theme of themes) {
    it(`can be read, whatever the owner gives: ${theme}`, () => {
      const surface = surfaceOf(theme);
      const back = sunken[theme];
      assert.ok(back !== undefined);
      for (const colour of cube) {
        const branding = { productName: "", theme: "auto", primaryColor: colour } as const;
        const palette = paletteOf({ ...branding, backgroundColor: colour }, theme);
        assert.ok(contrast(palette.onBrand, palette.brand) >= 4.5, `${colour} on a button`);
        assert.equal(palette.brand, colour, "an owner's colour stays as it is");
        assert.ok(contrast(palette.brandEdge, surface) >= 3, `${colour} around a button`);
        assert.ok(contrast(palette.accent, surface) >= 4.5, `${colour} as text`);
        assert.ok(contrast(palette.accent, back) >= 4.5, `${colour} as text that stands back`);
        assert.ok(contrast(palette.onGround, palette.ground) >= 4.5, `${colour} as ground`);
      }
    });
  }

  it("are written on in black or white, whichever is read better", () => {
    const on = (primaryColor: string) =>
      paletteOf({ theme: "auto", primaryColor }, "light").onBrand;
    assert.deepEqual(
      [on("#ffeb3b"), on("#fde68a"), on("#1d4ed8")],
      ["#000000", "#000000", "#ffffff"],
    );
  });

  it("stay as they are where they can be read", () => {
    const branding = { productName: "", theme: "auto", primaryColor: "#1D4ED8" } as const;
    assert.equal(paletteOf(branding, "light").brand, "#1d4ed8");
    assert.equal(paletteOf(branding, "light").accent, "#1d4ed8");
  });

  it("are ours where the owner gives none", () => {
    for (const primaryColor of [undefined, "", "red", "#12", "#12345g", "red}body{display:none"]) {
      const branding = { productName: "", theme: "auto", primaryColor } as const;
      assert.equal(paletteOf(branding, "light").brand, "#17594a");
    }
  });

  it("keep a background to the theme that it is like, unless there is only one", () => {
    const branding = { productName: "", backgroundColor: "#fff7ed" };
    assert.equal(paletteOf({ ...branding, theme: "auto" }, "light").ground, "#fff7ed");
    assert.notEqual(paletteOf({ ...branding, theme: "auto" }, "dark").ground, "#fff7ed");
    assert.equal(paletteOf({ ...branding, theme: "dark" }, "dark").ground, "#fff7ed");
  });
});

describe("a colour", () => {
  it("has three or six digits", () => {
    assert.equal(parseColour("#1aF"), "#11aaff");
    assert.equal(parseColour(" #ABCDEF "), "#abcdef");
    for (const text of ["#1234", "1aF", "#11aaff00", "rgb(0,0,0)"]) {
      assert.equal(parseColour(text), undefined);
    }
  });
});

describe("the buttons of providers", () => {
  it("have a drawn mark of their kind each", () => {
    const page = samples().get("login-name") ?? "";
    const marks = [
      ...page.matchAll(/<button [^>]*name="idp"[^>]*>(<svg[\s\S]*?<\/svg>)Continue with/g),
    ];
    assert.equal(new Set(marks.map(([, mark]) => mark)).size, 2);
  });
});

describe("the logo of a page", () => {
  const logo = "/ui/logos/light";
  const logoDark = "/ui/logos/dark";
  const brandIn = (branding: object) =>
    /<header class="brand">([\s\S]*?)<\/header>/.exec(
      samples({ branding: { productName: "Acme", ...branding } }).get("password") ?? "",
    )?.[1];
  const image = (path: string) => `<img class="logo" src="${path}" alt="Acme">`;

  it("follows what the browser asks for where the theme does", () => {
    const source = `<source srcset="${logoDark}" media="(prefers-color-scheme: dark)">`;
    assert.equal(brandIn({ logo, logoDark }), `<picture>${source}${image(logo)}</picture>`);
    assert.equal(brandIn({ logo }), image(logo));
  });

  it("is that of the theme where there is only one", () => {
    const both = { logo, logoDark };
    assert.equal(brandIn({ ...both, theme: "light" }), image(logo));
    assert.equal(brandIn({ ...both, theme: "dark" }), image(logoDark));
    assert.equal(brandIn({ logo, theme: "dark" }), image(logo));
    assert.equal(brandIn({ logoDark, theme: "dark" }), image(logoDark));
  });

  it("is the name where there is none for the theme, or what is named is no path of ours", () => {
    assert.match(brandIn({ logoDark }) ?? "", /<span class="product">Acme<\/span>/);
    const foreign = brandIn({ logo, logoDark: "https://evil.example/x.png" }) ?? "";
    assert.doesNotMatch(foreign, /evil/);
  });
});

describe("the icon of a tab", () => {
  const iconOf = (options: Parameters<typeof samples>[0]) =>
    /<link rel="icon"[^>]* href="([^"]*)"/.exec(samples(options).get("password") ?? "")?.[1] ?? "";

  it("is the first letter of the product, in its colours", () => {
    const own = iconOf({ branding: { productName: "étoile", primaryColor: "#1d4ed8" } });
    const picture = decodeURIComponent(own.replace("data:image/svg+xml,", ""));
    assert.match(picture, /<rect [^>]*fill="#1d4ed8"\/>/);
    assert.match(picture, />É<\/text>/);
  });

  it("holds nothing of the name but that letter, as text", () => {
    const own = iconOf({ branding: { productName: "<script>" } });
    assert.match(decodeURIComponent(own), />&lt;<\/text>/);
  });

  it("is the shipped one where the product has no name of its own", () => {
    assert.match(iconOf({ branding: { productName: "idsvc" } }), /assets\/icon\.\w+\.svg$/);
  });
});
