import type { AuthorizationRequest, BrowserSession, Missing } from "../ports.ts";
import { isStale } from "./max-age.ts";
import { refuse } from "./refusal.ts";

export type Choice = { session: BrowserSession } | { missing: Missing };

/**
 * Which session of the browser answers the request, or what the user is asked instead (OpenID Connect Core 1.0 sections
 * 3.1.2.1 and 3.1.2.3). A session of another user than the hinted one, or of another organization, is none.
 *
 * @param fits whether the user may log in by the request: right organization
 * @throws login_required, interaction_required where nobody may be asked
 */
export function chooseSession(
  request: AuthorizationRequest,
  sessions: readonly BrowserSession[],
  fits: (session: BrowserSession) => boolean,
  now: Date,
): Choice {
  const { prompt, hintedUserId, maxAgeSeconds } = request;
  const fitting = sessions.filter(
    (session) => fits(session) && (hintedUserId === undefined || session.user.id === hintedUserId),
  );
  const isSilent = prompt.includes("none");
  if (!isSilent) {
    if (prompt.includes("create")) return { missing: "create" };
    if (prompt.includes("select_account")) return { missing: "select_account" };
    if (prompt.includes("login")) return { missing: "login" };
  }
  const [session, ...others] = fitting;
  if (session === undefined) {
    if (isSilent) throw refuse("login_required", "nobody is logged in here who fits the request");
    return { missing: "login" };
  }
  if (others.length > 0) {
    if (isSilent) throw refuse("interaction_required", "several users are logged in here");
    return { missing: "select_account" };
  }
  if (!isStale(maxAgeSeconds, session.authTime, now)) return { session };
  if (isSilent) throw refuse("login_required", "the login is older than max_age");
  return { missing: "login" };
}
