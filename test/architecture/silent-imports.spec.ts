// Run: shared
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";

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

/** One process imports all, one after the other, as each begins with much that others have loaded; it ends with the first that fails. */
const importing = `for (const name of ${JSON.stringify(Object.keys(dependencies))}) {
  await import(name);
  console.log(name);
}`;
const flags = ["--permission", "--allow-fs-read=*", "--allow-addons", "--input-type=module"];
const preload = `--import=data:text/javascript,${encodeURIComponent(watch)}`;

describe("a runtime package (decision 0091)", () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, preload, `--eval=${importing}`],
    { cwd: root, encoding: "utf8" },
  );
  for (const name of Object.keys(dependencies)) {
    it(`${name} writes no file and opens no socket when it is imported`, () => {
      assert.ok(stdout.split("\n").includes(name), stderr);
      // What it begins may come later than its import.
      assert.equal(status, 0, stderr);
    });
  }
});
