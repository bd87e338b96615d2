import { assetPath } from "./assets.ts";
import { paletteOf } from "../settings/policy/palette.ts";
import { shippedBranding } from "../settings/policy/branding.ts";
import { attributes, html, type Html, type Value } from "../html.ts";
import { isLanguage, languages } from "../texts/languages.ts";
import { isOwnPath, type Page, placeOf } from "./page.ts";
import { hiddenFields } from "./parts/form.ts";
import { icon } from "./parts/icon.ts";
import { problemSummary } from "./parts/problem.ts";

export type Shape = {
  title: string;
  /** What stands under the title. */
  lead?: Value;
  /** Scripts of ours that the page uses; it works without them. */
  scripts?: readonly ("login.js" | "passkey.js")[];
  /** A wide page holds a list instead of a form. */
  isWide?: boolean;
  /** What stands beside the card, of pages that belong together. */
  nav?: Html;
  /** Style sheets beside that of the login. */
  styles?: readonly "account.css"[];
  /** The code of the error that the page tells of, for programs. */
  error?: string;
};

/** A whole page around its content. */
export function layout(page: Page, shape: Shape, content: Value): string {
  const { t, branding, notice } = page;
  return html`<!doctype html>
<html lang="${page.language}" dir="ltr" data-theme="${branding.theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${shape.title} · ${branding.productName}</title>
<link rel="icon" type="image/svg+xml" href="${tabIcon(page)}">
${(["login.css", ...(shape.styles ?? [])] as const).map(
  (name) => html`<link rel="stylesheet" href="${assetPath(name)}">
`,
)}${colours(page)}
${shape.scripts?.map((name) => html`<script src="${assetPath(name)}" nonce="${page.nonce}" defer></script>`)}
</head>
<body>
<a class="skip" href="#main">${t("common.skip")}</a>
<div class="${shape.nav === undefined ? "sheet" : "sheet sided"}">
<header class="brand">${brand(page)}</header>
${shape.nav}<main ${attributes({ id: "main", class: shape.isWide ? "card wide" : "card", "data-error": shape.error })}>
<div class="head"><h1>${shape.title}</h1>${shape.lead !== undefined && html`<p class="lead">${shape.lead}</p>`}</div>
${notice !== undefined && html`<p class="notice" role="status">${icon("check")}<span>${t(`notice.${notice}`)}</span></p>`}
${problemSummary(page)}
${content}
${page.cancel !== undefined && html`<p class="aside"><a class="link" href="${page.cancel}">${t("account.backTo")}</a></p>`}
</main>
<footer class="foot">${languageChooser(page)}</footer>
</div>
</body>
</html>
`.toString();
}

/** The shipped sign; of a product that is called otherwise the first letter of its name, in its colours. */
function tabIcon({ branding }: Page): string {
  const { productName } = branding;
  if (productName === shippedBranding.productName) return assetPath("icon.svg");
  const [letter = ""] = productName;
  const { brand: ground, onBrand } = paletteOf(branding, "light");
  const picture = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="${ground}"/><text x="16" y="22.5" text-anchor="middle" font-family="system-ui,sans-serif" font-size="19" font-weight="600" fill="${onBrand}">${letter.toUpperCase()}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(picture.toString())}`;
}

function brand({ branding }: Page): Html {
  const { productName, theme } = branding;
  const [light, dark] = [branding.logo, branding.logoDark ?? branding.logo].map((path) =>
    path !== undefined && isOwnPath(path) ? path : undefined,
  );
  const sign = html`${icon("mark")}<span class="product">${productName}</span>`;
  const shown = (path: string | undefined) =>
    path === undefined ? sign : html`<img class="logo" src="${path}" alt="${productName}">`;
  if (theme !== "auto") return shown(theme === "dark" ? dark : light);
  if (light === undefined || dark === undefined || dark === light) return shown(light);
  return html`<picture><source srcset="${dark}" media="(prefers-color-scheme: dark)">${shown(light)}</picture>`;
}

// Works without scripts: a disclosure with buttons of one form, so that the flow stands in the page once and not in an address a language.
function languageChooser(page: Page): Html | undefined {
  const { self, t } = page;
  if (self === undefined || page.languages.length < 2) return undefined;
  const { path, query } = placeOf(self);
  const choice = page.languages.filter(isLanguage).map((language) => {
    const current = language === page.language ? "true" : undefined;
    const shape = { name: "ui_locales", value: language, lang: language, "aria-current": current };
    return html`<li><button ${attributes({ type: "submit", ...shape })}>${languages[language]}</button></li>`;
  });
  return html`<details class="languages"><summary>${icon("globe")}<span class="hidden">${t("common.language")}: </span>${languages[page.language]}</summary>
<form method="get" action="${path}">${hiddenFields(page, query)}<ul>${choice}</ul></form></details>`;
}

/** The colours of the brand; the style sheet chooses between the two themes. */
export function colours({
  branding,
  nonce,
}: {
  branding: Parameters<typeof paletteOf>[0];
  nonce: string;
}): Html {
  const light = paletteOf(branding, "light");
  const dark = paletteOf(branding, "dark");
  return html`<style nonce="${nonce}">:root {
--light-ground: ${light.ground}; --light-on-ground: ${light.onGround}; --light-brand: ${light.brand}; --light-brand-edge: ${light.brandEdge}; --light-on-brand: ${light.onBrand}; --light-accent: ${light.accent};
--dark-ground: ${dark.ground}; --dark-on-ground: ${dark.onGround}; --dark-brand: ${dark.brand}; --dark-brand-edge: ${dark.brandEdge}; --dark-on-brand: ${dark.onBrand}; --dark-accent: ${dark.accent};
}</style>`;
}
