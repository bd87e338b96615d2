import type { EgressClient } from "../egress/client.ts";
import { callTimeoutMs } from "./documents.ts";

type Egress = Pick<EgressClient, "call">;
type Init = {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal | undefined;
};

/** The shape of `fetch` over the guarded way out (X13): libraries that want one reach nothing else. */
export const guardedFetch =
  (egress: Egress) =>
  async (url: string, { method = "GET", headers = {}, body, signal }: Init): Promise<Response> => {
    if (method !== "GET" && method !== "POST") throw new TypeError(`${method} is not sent`);
    const answer = await egress.call({
      method,
      url,
      headers,
      ...(body === undefined || body === null ? {} : { body: textOf(body) }),
      timeoutMs: callTimeoutMs,
      signal,
    });
    const sent = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === "string" ? [[name, value]] : [],
    );
    const isEmpty = answer.status === 204 || answer.status === 205;
    return new Response(isEmpty ? null : Buffer.from(answer.body), {
      status: answer.status,
      headers: sent,
    });
  };

/** Libraries of OAuth send forms, and nothing else. */
function textOf(body: unknown): string {
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError("only a form is sent");
}
