import { seconds, signJwt } from "./jwt.ts";
import type { At, Ports } from "./ports.ts";

const lifeMs = 15 * 60_000;
const event = "http://schemas.openid.net/event/backchannel-logout";

/** What tells an app that a session has ended (OpenID Connect Back-Channel Logout 1.0 section 2.4). It has no nonce. */
export async function logoutToken(
  { keys, now, newId }: Pick<Ports, "keys" | "now" | "newId">,
  at: At,
  ended: { clientId: string; alg: string; userId: string; sessionId: string },
): Promise<string> {
  const { clientId, alg, userId, sessionId } = ended;
  const issuedAt = now();
  return signJwt(await keys.signer(at, alg), "logout+jwt", {
    iss: at.issuer,
    sub: userId,
    aud: clientId,
    iat: seconds(issuedAt),
    exp: seconds(new Date(issuedAt.getTime() + lifeMs)),
    jti: newId(),
    sid: sessionId,
    events: { [event]: {} },
  });
}
