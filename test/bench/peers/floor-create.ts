// The statements of CreateTarget behind a bare node:http handler: `floor-create.ts <file> <instance> <each | grouped>`.
import http from "node:http";
import { openRaw, rawStore } from "../raw-append.ts";
import { host, port } from "./place.ts";

const [file = "", instance = "", mode] = process.argv.slice(2);
const store = rawStore(openRaw(file), instance);

type Made = { id: string; sequence: number };
let waiting: { name: string; done: (made: Made) => void }[] = [];

function create(name: string, done: (made: Made) => void): void {
  if (mode === "each") return done(store.each(name));
  waiting.push({ name, done });
  if (waiting.length === 1) setImmediate(flush);
}

function flush(): void {
  const batch = waiting;
  waiting = [];
  const made = store.group(() => batch.map(({ name }) => store.append(name)));
  batch.forEach(({ done }, at) => done(made[at] ?? { id: "", sequence: 0 }));
}

http
  .createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { name } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { name: string };
      create(name, ({ id, sequence }) => {
        const json = JSON.stringify({ details: { id, sequence: String(sequence) } });
        response.writeHead(201, {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(json),
        });
        response.end(json);
      });
    });
  })
  .listen(port, host);
