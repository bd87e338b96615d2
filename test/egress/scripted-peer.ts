import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import net, { type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";

/** A listener that says what it is told to, and counts who came. */
export type Peer = AsyncDisposable & { port: number; connections: number; requests: string[] };

/** Speaks on a connection once the header of a request has come; whether it closes is its own matter. */
export type Script = (socket: Socket, request: string) => void;

export async function scriptedPeer(
  script: Script,
  at: { host?: string; port?: number; tls?: { cert: string; key: string } } = {},
): Promise<Peer> {
  const peer = { port: 0, connections: 0, requests: [] as string[] };
  const open = new Set<Socket>();
  const serve = (socket: Socket) => {
    let heard = "";
    socket.on("error", () => {});
    socket.on("data", (data) => {
      const before = heard.includes("\r\n\r\n");
      heard += data.toString("latin1");
      if (before || !heard.includes("\r\n\r\n")) return;
      peer.requests.push(heard);
      script(socket, heard);
    });
  };
  const server = at.tls ? tls.createServer(at.tls, serve) : net.createServer(serve);
  server.on("tlsClientError", () => {});
  server.on("connection", (socket: Socket) => {
    peer.connections += 1;
    open.add(socket.on("error", () => {}));
  });
  server.listen(at.port ?? 0, at.host ?? "127.0.0.1");
  await once(server, "listening");
  peer.port = (server.address() as AddressInfo).port;
  return Object.assign(peer, {
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  });
}

/** The answer in these lines, then the body, then the end. */
export const answering =
  (lines: string[], body: string | Uint8Array = ""): Script =>
  (socket) => {
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    socket.end(body);
  };

/** A certificate that signs itself, for one name. */
export function certificateFor(name: string): { cert: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-egress-"));
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  try {
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-nodes",
        "-days",
        "2",
        "-subj",
        `/CN=${name}`,
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-addext",
        `subjectAltName=DNS:${name}`,
        "-keyout",
        keyFile,
        "-out",
        certFile,
      ],
      { stdio: "pipe" },
    );
    return { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export type Records = {
  a?: string[];
  /** How long they take: answers of other types come before. */
  aAfterMs?: number;
  /** Each record as its pieces. */
  txt?: string[][];
};

/** A name server on loopback: gives the records of a name, NXDOMAIN without any, and nothing at all for `silent`. */
export async function nameServer(names: Record<string, Records | "silent">) {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (query, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += 1 + length;
    }
    const type = query.readUInt16BE(at + 1);
    const question = query.subarray(12, at + 5);
    const name = labels.join(".");
    const records = names[name.toLowerCase()];
    asked.push(name);
    if (records === "silent") return;
    const data =
      type === 1
        ? (records?.a ?? []).map((ip) => Buffer.from(ip.split(".").map(Number)))
        : type === 16
          ? (records?.txt ?? []).map((pieces) =>
              Buffer.concat(pieces.flatMap((p) => [Buffer.from([p.length]), Buffer.from(p)])),
            )
          : [];
    const answers = data.map((rdata) => {
      const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, 0]);
      head.writeUInt16BE(rdata.length, 10);
      return Buffer.concat([head, rdata]);
    });
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(records === undefined ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(answers.length, 6);
    head.writeUInt32BE(0, 8);
    const send = () =>
      socket.send(Buffer.concat([head, question, ...answers]), from.port, from.address);
    if (type === 1 && records?.aAfterMs !== undefined) setTimeout(send, records.aAfterMs);
    else send();
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, "close");
    },
  };
}
