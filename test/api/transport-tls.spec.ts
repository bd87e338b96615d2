// Run: shared
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import https from "node:https";
import http2 from "node:http2";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { after, describe, it } from "node:test";
import { toBinary, fromBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import {
  ActionService,
  ListAvailableExecutionFunctionsRequestSchema as RequestSchema,
  ListAvailableExecutionFunctionsResponseSchema as ResponseSchema,
  type ListAvailableExecutionFunctionsResponse,
} from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { startTestApp } from "../support/app.ts";
import { makeCertificate } from "../support/certificate.ts";
import { pathOf } from "../support/protocols.ts";
import { exchangeTwo } from "../support/wire.ts";

const folder = mkdtempSync(join(tmpdir(), "idsvc-tls-"));
const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
makeCertificate(certFile, keyFile);
const ca = readFileSync(certFile);
const env = {
  IDSVC_TLS_CERT: certFile,
  IDSVC_TLS_KEY: keyFile,
  IDSVC_EXTERNAL_URL: "https://localhost:8443",
};
const app = await startTestApp({ env });
const { port, token } = app;
after(async () => {
  await app[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const authorization = `Bearer ${token}`;
const method = ActionService.method.listAvailableExecutionFunctions;
const path = "/resources/v3alpha/executions/functions";
const dial = (options: tls.ConnectionOptions) =>
  tls.connect({ host: "127.0.0.1", port, ca, servername: "localhost", ...options });

describe("the port under TLS", () => {
  it("speaks HTTP/2 or HTTP/1.1, as ALPN says", async () => {
    for (const [offered, chosen] of [
      [["h2", "http/1.1"], "h2"],
      [["http/1.1"], "http/1.1"],
      [["h2"], "h2"],
    ] as const) {
      const socket = dial({ ALPNProtocols: [...offered] });
      await once(socket, "secureConnect");
      assert.equal(socket.alpnProtocol, chosen);
      assert.equal(socket.authorized, true);
      socket.destroy();
    }
  });

  it("serves REST over HTTP/1.1, with and without ALPN", async () => {
    for (const ALPNProtocols of [["http/1.1"], undefined]) {
      const agent = new https.Agent({ ca, ...(ALPNProtocols && { ALPNProtocols }) });
      const request = https.get({
        host: "127.0.0.1",
        servername: "localhost",
        port,
        path,
        agent,
        headers: { host: "localhost", authorization },
      });
      const [response] = await once(request, "response");
      assert.equal(response.statusCode, 200);
      assert.equal(response.headers["content-type"], "application/json");
      response.resume();
      await once(response, "end");
      agent.destroy();
    }
  });

  it("serves REST over HTTP/2", async () => {
    const session = http2.connect(`https://localhost:${port}`, { ca });
    const request = { method: "GET", path, headers: { authorization } };
    const { status, json } = await exchangeTwo(session, request);
    session.close();
    assert.equal(status, 200);
    assert.ok(Object(json).functions.includes("preuserinfo"));
  });

  it("serves gRPC to a client that is not ours", async () => {
    const client = new Client(`localhost:${port}`, credentials.createSsl(ca));
    const metadata = new Metadata();
    metadata.set("authorization", authorization);
    const write = () => Buffer.from(toBinary(RequestSchema, { $typeName: RequestSchema.typeName }));
    const read = (bytes: Buffer) => fromBinary(ResponseSchema, bytes);
    const { functions } = await new Promise<ListAvailableExecutionFunctionsResponse>(
      (resolve, reject) => {
        client.makeUnaryRequest(pathOf(method), write, read, {}, metadata, (error, message) =>
          message === undefined ? reject(error ?? new Error("no answer")) : resolve(message),
        );
      },
    );
    client.close();
    assert.ok(functions.includes("preuserinfo"));
  });

  it("serves Connect over both versions of HTTP", async () => {
    for (const httpVersion of ["1.1", "2"] as const) {
      const transport = createConnectTransport({
        baseUrl: `https://localhost:${port}`,
        httpVersion,
        nodeOptions: { ca },
      });
      const client = createClient(ActionService, transport);
      const options = { headers: { authorization } };
      const { functions } = await client.listAvailableExecutionFunctions({}, options);
      assert.ok(functions.includes("preuserinfo"), httpVersion);
    }
  });

  it("refuses TLS before 1.2, and what is no TLS, and goes on serving", async () => {
    const old = dial({ minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" });
    const [error] = await once(old, "error");
    assert.match(String(error), /alert|protocol|version/i);
    const plain = net.connect(port, "127.0.0.1");
    plain.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let heard = "";
    plain.on("data", (chunk: Buffer) => (heard += chunk.toString("latin1")));
    plain.on("error", () => {});
    await once(plain, "close");
    assert.doesNotMatch(heard, /HTTP\/1\.1 200/);
    const socket = dial({ ALPNProtocols: ["http/1.1"] });
    await once(socket, "secureConnect");
    socket.destroy();
  });
});
