import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "./certificate.ts";

/** Speaks TLS before a service that does not, as proxies do; its certificate is of nobody. */
export async function startTlsProxy(port: number, servicePort: number): Promise<AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-proxy-"));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  makeCertificate(cert, key);
  const server = https.createServer(
    { cert: readFileSync(cert), key: readFileSync(key) },
    (request, response) => {
      const forwarded = http.request(
        {
          host: "localhost",
          port: servicePort,
          method: request.method,
          path: request.url,
          headers: {
            ...request.headers,
            "x-forwarded-proto": "https",
            "x-forwarded-host": request.headers.host,
          },
        },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      forwarded.on("error", () => response.destroy());
      request.pipe(forwarded);
    },
  );
  await once(server.listen(port, "localhost"), "listening");
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
