import { randomBytes } from "node:crypto";
import { notFound } from "../errors.ts";
import { html } from "../html.ts";
import { languageCookie, readCookie } from "../login/agents.ts";
import { assetPath } from "../login/assets.ts";
import { pageHeaders } from "../login/headers.ts";
import { colours } from "../login/layout.ts";
import type { Deps } from "../projection/module.ts";
import { brandingReader } from "../settings/policy/branding.ts";
import { languageReader } from "../settings/policy/language.ts";
import { consoleTexts } from "../texts/console-texts.ts";
import { chooseLanguage } from "../texts/languages.ts";
import type { ConsoleFiles } from "./files.ts";
import { sessionCookie } from "./cookies.ts";
import type { ConsoleAnswer, ConsoleEndpoint, ConsoleRequest } from "./log-in.ts";
import { assetsPath, consolePath } from "./paths.ts";
import { isTls } from "./sessions.ts";

type At = { instanceId: string; issuer: string };

/** What the pages ask for, by method: the permission that shows that somebody has a use for it. */
export type Needs = Readonly<Record<string, string>>;

/**
 * The one page that all addresses of the console have, and its files. It tells nothing of anybody: what is shown comes of calls.
 */
export function consolePages<A extends At>(
  { db }: Pick<Deps, "db">,
  files: () => Promise<ConsoleFiles>,
  needs: () => Needs,
): ConsoleEndpoint<A>[] {
  const languages = languageReader(db);
  const branding = brandingReader(db);

  async function page(request: ConsoleRequest, at: A): Promise<ConsoleAnswer> {
    const { script, style } = await files();
    const allowed = await languages(at.instanceId);
    const language = chooseLanguage({
      cookie: readCookie(request.headers.get("cookie") ?? "", languageCookie),
      acceptLanguage: request.headers.get("accept-language") ?? undefined,
      ...allowed,
    });
    const texts = await consoleTexts(language);
    const look = await branding(at.instanceId);
    const nonce = randomBytes(16).toString("base64url");
    const data = {
      texts,
      language,
      product: look.productName,
      needs: needs(),
      isSignedOut: isSignedOut(request, at),
    };
    const headers = pageHeaders({ nonce, isTls: isTls(at), hasForms: false });
    const policy = `${headers["content-security-policy"]}; connect-src 'self'`;
    return {
      status: 200,
      headers: { ...headers, "content-security-policy": policy },
      body: html`<!doctype html>
<html lang="${language}" dir="ltr" data-theme="${look.theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${texts.title} · ${look.productName}</title>
<link rel="icon" type="image/svg+xml" href="${assetPath("icon.svg")}">
<link rel="stylesheet" href="${assetPath("login.css")}">
<link rel="stylesheet" href="${`${assetsPath}/${style}`}">
${colours({ branding: look, nonce })}
<script type="module" src="${`${assetsPath}/${script}`}"></script>
</head>
<body>
<div id="console" data-page="${JSON.stringify(data)}"><noscript>${texts.withoutScripts}</noscript></div>
</body>
</html>
`.toString(),
    };
  }

  async function asset(request: ConsoleRequest): Promise<ConsoleAnswer> {
    const { pathname } = new URL(request.url);
    const found = (await files()).byName.get(pathname.slice(assetsPath.length + 1));
    if (found === undefined)
      throw notFound("CONSOLE_FILE_NOT_FOUND", "the console has no such file");
    const { body, contentType } = found;
    const isHashed = !pathname.endsWith(".txt");
    const cacheControl = isHashed ? "public, max-age=31536000, immutable" : "no-cache";
    return {
      status: 200,
      headers: {
        "content-type": contentType,
        "cache-control": cacheControl,
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
      },
      body,
    };
  }

  const common = { methods: ["GET"], crossOrigin: "none" } as const;
  return [
    { path: `${assetsPath}/:name`, ...common, handle: asset },
    { path: `${consolePath}{/*page}`, ...common, handle: page },
    { path: `${consolePath}/`, ...common, handle: page },
  ];
}

/**
 * Whether the browser has no session of the console for certain. Pages of other sites lead here without the cookie, which is
 * `SameSite=Strict`, and old browsers do not tell where a request comes from: then nothing is known.
 */
function isSignedOut({ headers }: ConsoleRequest, at: { issuer: string }): boolean {
  const sendsStrict = ["none", "same-origin", "same-site"].includes(
    headers.get("sec-fetch-site") ?? "",
  );
  return sendsStrict && sessionCookie.read(headers.get("cookie") ?? "", isTls(at)) === undefined;
}
