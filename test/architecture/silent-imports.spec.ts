// Run: alone
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";

const root = resolve(import.meta.dirname, "../..");
const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// Node's permission model forbids writing, child processes and workers; what it does not watch are sockets and names.
const watch = `
  import net from "node:net"; import dns from "node:dns"; import dgram from "node:dgram";
  const refuse = (what) => () => { console.error("opens " + what); process.exit(9); };
  net.Socket.prototype.connect = refuse("a connection");
  net.Server.prototype.listen = refuse("a port");
  dgram.createSocket = refuse("a socket");
  dns.lookup = refuse("a name");
`;

describe("a runtime package (decision 0091)", () => {
  for (const name of Object.keys(dependencies)) {
    it(`${name} writes no file and opens no socket when it is imported`, async () => {
      await promisify(execFile)(
        process.execPath,
        [
          "--permission",
          "--allow-fs-read=*",
          "--allow-addons",
          `--import=data:text/javascript,${encodeURIComponent(watch)}`,
          "--input-type=module",
          `--eval=await import(${JSON.stringify(name)})`,
        ],
        { cwd: root },
      );
    });
  }
});
