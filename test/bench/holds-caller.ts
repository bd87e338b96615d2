// A thread that calls the service for `npm run bench:holds`, so that what calls cost their caller does not count.
import { parentPort } from "node:worker_threads";

/** What is called; the token goes with each call. */
export type Asked = { url: string; method: string; token: string; body?: string };
export type Told = { status: number; text: string };

const longestText = 2_000;

parentPort?.on("message", ({ url, method, token, body }: Asked) => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  void fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })
    .then(async (answer): Promise<Told> => {
      const text = await answer.text();
      return { status: answer.status, text: text.slice(0, longestText) };
    })
    .catch((error: unknown): Told => ({ status: 0, text: String(error) }))
    .then((told) => parentPort?.postMessage(told, []));
});
