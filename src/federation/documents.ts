import type { EgressClient, HttpAnswer } from "../egress/client.ts";
import { providerUnavailable } from "./refusals.ts";

/** Documents of providers that change seldom: discovery, key sets, metadata. */
export type Documents = {
  /**
   * A document, from memory while it lives. However many ask, one asks the provider.
   * @param notBefore it must have been read after (milliseconds since the epoch)
   * @throws UNAVAILABLE IDP_UNAVAILABLE
   */
  read(url: string, notBefore?: number): Promise<{ text: string; readAt: number }>;
  json(url: string, notBefore?: number): Promise<Record<string, unknown>>;
};

/** What does not fit is read again, but not by every forged token and every try of a login. */
export const lookAgainMs = 10_000;

/** How long any call of a provider may take. */
export const callTimeoutMs = 10_000;

const usualLifeMs = 10 * 60_000;
const shortestLifeMs = 60_000;
const longestLifeMs = 24 * 60 * 60_000;
const mostRemembered = 1_000;

type Read = { text: string; readAt: number; lives: number };

export function createDocuments(egress: Pick<EgressClient, "call">, now: () => Date): Documents {
  const known = new Map<string, Read>();
  const asked = new Map<string, Promise<Read>>();

  async function fetchAnew(url: string): Promise<Read> {
    const readAt = now().getTime();
    const answer = await egress
      .call({
        method: "GET",
        url,
        headers: { accept: "application/json, application/xml, */*" },
        timeoutMs: callTimeoutMs,
      })
      .catch((error: unknown) => {
        throw providerUnavailable(error);
      });
    if (answer.status !== 200) {
      throw providerUnavailable(new Error(`${new URL(url).host} answers with ${answer.status}`));
    }
    const text = Buffer.from(answer.body).toString("utf8");
    const read = { text, readAt, lives: lifeOf(answer, readAt) };
    if (known.size >= mostRemembered) known.delete(String(known.keys().next().value));
    known.set(url, read);
    return read;
  }

  function readOf(url: string): Promise<Read> {
    let asking = asked.get(url);
    if (asking === undefined) {
      asking = fetchAnew(url).finally(() => asked.delete(url));
      asked.set(url, asking);
    }
    return asking;
  }

  const read: Documents["read"] = async (url, notBefore = 0) => {
    const found = known.get(url);
    const at = now().getTime();
    if (found !== undefined && found.readAt > notBefore && at < found.readAt + found.lives) {
      return found;
    }
    return readOf(url);
  };

  return {
    read,
    async json(url, notBefore) {
      const { text } = await read(url, notBefore);
      try {
        const value: unknown = JSON.parse(text);
        if (value !== null && typeof value === "object" && !Array.isArray(value)) {
          return value as Record<string, unknown>;
        }
      } catch {
        // Below: it is none.
      }
      known.delete(url);
      throw providerUnavailable(new Error(`${new URL(url).host} gives no JSON object`));
    },
  };
}

/**
 * How long an answer is used (RFC 9111 section 4.2.1): ten minutes where it does not say, never longer than a day. A minute at
 * least, whatever it says: a login reads each document twice, and no provider that follows OpenID Connect changes them within
 * one without publishing the next key first.
 */
function lifeOf({ headers }: HttpAnswer, readAt: number): number {
  return Math.min(Math.max(statedLifeOf(headers, readAt), shortestLifeMs), longestLifeMs);
}

function statedLifeOf(headers: HttpAnswer["headers"], readAt: number): number {
  const control = headers["cache-control"]?.toLowerCase() ?? "";
  if (/\bno-(?:store|cache)\b/.test(control)) return 0;
  const ageMs = Number(/^\d{1,10}$/.exec(headers.age ?? "")?.[0] ?? 0) * 1_000;
  const seconds = /\bmax-age="?(\d{1,10})/.exec(control)?.[1];
  if (seconds !== undefined) return Number(seconds) * 1_000 - ageMs;
  if (headers.expires === undefined) return usualLifeMs;
  const expires = Date.parse(headers.expires);
  // `0` and whatever else is no date lie in the past (RFC 9111 section 5.3).
  return Number.isNaN(expires) ? 0 : expires - (Date.parse(headers.date ?? "") || readAt) - ageMs;
}
