import { readCookie } from "./agents.ts";
import type { PageContext } from "./page-context.ts";

// Ids hold no slash (J7).
const name = "idsvc-providers";
const between = "/";
const most = 3;
const lifeSeconds = 31_536_000;

/** The providers that were chosen last in this browser, the latest first. What it says is no proof of anything. */
const recentIn = (context: PageContext): string[] =>
  (readCookie(context.header("cookie") ?? "", name) ?? "").split(between).slice(0, most);

/** Has the browser remember that a provider was chosen. */
export function cookieOfProvider(context: PageContext, id: string): string {
  const ids = [...new Set([id, ...recentIn(context)])].filter((each) => each !== "");
  const secure = context.isTls ? "; Secure" : "";
  return `${name}=${ids.slice(0, most).join(between)}; Path=/ui/login; Max-Age=${lifeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** Those first that were chosen last in this browser; the others as they stood. */
export function recentFirst<T extends { id: string }>(
  context: PageContext,
  providers: readonly T[],
): T[] {
  const recent = recentIn(context);
  const rank = ({ id }: T) => (recent.includes(id) ? recent.indexOf(id) : recent.length);
  return providers.toSorted((a, b) => rank(a) - rank(b));
}
