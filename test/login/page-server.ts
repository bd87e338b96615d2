import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { assetAt } from "../../src/login/assets.ts";
import { pageHeaders } from "../../src/login/headers.ts";

export const nonce = "dGVzdC1ub25jZQ";

/** A form that was sent. */
export type Sent = { path: string; fields: URLSearchParams };

export type PageServer = AsyncDisposable & {
  origin: string;
  /** Shows these pages from now on, each at `/<name>`. */
  show(pages: ReadonlyMap<string, string>): void;
  sent: Sent[];
};

/** Serves pages with the headers and the assets of the service, and keeps what forms send. */
export async function startPageServer(): Promise<PageServer> {
  let pages: ReadonlyMap<string, string> = new Map();
  const sent: Sent[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const asset = assetAt(pathname);
    if (asset !== undefined) {
      const { contentType, body, cacheControl } = asset;
      response
        .writeHead(200, { "content-type": contentType, "cache-control": cacheControl })
        .end(body);
      return;
    }
    // Browsers ask for it where an answer is no page.
    if (pathname === "/favicon.ico") {
      response.writeHead(204).end();
      return;
    }
    if (request.method === "POST") {
      let body = "";
      request.setEncoding("utf8").on("data", (part) => (body += part));
      request.on("end", () => {
        sent.push({ path: pathname, fields: new URLSearchParams(body) });
        response.writeHead(200, { "content-type": "text/plain" }).end("sent");
      });
      return;
    }
    const page = pages.get(pathname.slice(1));
    const headers = pageHeaders({ nonce, isTls: false, hasForms: true });
    response.writeHead(page === undefined ? 404 : 200, headers).end(page ?? "");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://localhost:${port}`,
    show: (next) => void (pages = next),
    sent,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
