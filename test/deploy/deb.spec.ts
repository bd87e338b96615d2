// Run: alone, long
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { debianPackage } from "../../.ci/deb.ts";
import { install } from "../../.ci/installation.ts";
import { logIn, signedIn } from "./log-in.ts";
import { noMachine, onMachine } from "./machine.ts";
import { noStrace } from "../faults/strace.ts";
import { allowedCalls, noSystemd, serviceUser, systemctl } from "./unit.ts";

const page = readFileSync(resolve(import.meta.dirname, "../../docs/deploy/systemd.md"), "utf8");
const [installing = "", starting = ""] = [...page.matchAll(/```sh\n(.*?)```/gs)].map(
  ([, text = ""]) => text,
);

const folder = mkdtempSync(join(tmpdir(), "idsvc-deb-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const installation = join(folder, "installation");
let file: string;
const dpkg = (...args: string[]) => execFileSync("dpkg-deb", args, { encoding: "utf8" });

describe("the Debian package", () => {
  before(() => {
    install(installation, "amd64");
    file = debianPackage(installation, "amd64", folder, "none");
  });

  it("holds nothing that somebody else than root may write, and no file for other machines", () => {
    const lines = dpkg("--contents", file).trim().split("\n");
    assert.deepEqual(
      lines.filter((line) => !/^[-d]rw.r-.r-. root\/root /.test(line)),
      [],
    );
    const native = lines.filter((line) => line.endsWith(".node") && !line.endsWith("LICENSE.node"));
    assert.equal(native.length, 3);
    assert.ok(native.every((line) => line.includes("linux-x64")));
    assert.equal(dpkg("--info", file, "conffiles").trim(), "/etc/idsvc/idsvc.env");
  });

  it("serves after the printed commands, as a user who may write its own folder only", {
    skip: noMachine(),
  }, () => {
    const told = onMachine(
      `${logIn}
      install -m 755 systemctl.sh /usr/local/bin/systemctl
      ${installing}
      stat -c '%U %a %n' /etc/idsvc/master.key
      begun=$(date +%s)
      ${starting}
      echo
      [ $(($(date +%s) - begun)) -lt 60 ]
      log_in http://localhost:8080 admin@idsvc.localhost "$(sed -n 's/.*"password": "\\(.*\\)".*/\\1/p' /var/lib/private/idsvc/bootstrap.json)"
      find / -xdev -user ${serviceUser} ! -path '/var/lib/private/*' ! -path /var/lib/idsvc -printf 'writes %p\n'
      find /var/lib/private/idsvc -perm /077 -printf 'shown %p\n'
      idsvc version
      apt-get purge -qq idsvc 2>&1
      find /etc/idsvc /usr/lib/idsvc /usr/bin/idsvc /usr/lib/systemd/system/idsvc.service -printf 'kept %p\n' 2>/dev/null || true`,
      [file, script("systemctl.sh", systemctl())],
    );
    assert.match(told, /^root 600 \/etc\/idsvc\/master\.key$/m);
    assert.match(told, /"login_names":\["admin@idsvc\.localhost"\]/);
    assert.match(told, signedIn);
    assert.match(told, /^0\.1\.0$/m);
    assert.doesNotMatch(told, /^(?:writes|shown) /m);
    const kept = told.split("\n").filter((line) => line.startsWith("kept "));
    assert.deepEqual(kept, ["kept /etc/idsvc", "kept /etc/idsvc/master.key"]);
    assert.match(told, /^idsvc: kept are \/etc\/idsvc\/master\.key/m);
  });

  it("asks the system only for what the unit allows", { skip: noStrace() || noSystemd }, () => {
    const calls = join(folder, "calls");
    const serve = [join(installation, "bin/node"), join(installation, "bin/idsvc.js"), "serve"];
    const data = join(folder, "data");
    mkdirSync(data);
    for (const path of [folder, data]) chownSync(path, serviceUser, serviceUser);
    const trace = ["strace", "-f", "-qq", "--signal=none", "-o", calls, ...serve];
    const asUser = ["--reuid", String(serviceUser), "--regid", String(serviceUser)];
    const { stdout } = spawnSync(
      "timeout",
      ["15", "setpriv", ...asUser, "--clear-groups", ...trace],
      {
        encoding: "utf8",
        env: { IDSVC_DATA_DIR: data, IDSVC_PORT: "0" },
      },
    );
    assert.match(stdout, /"msg":"stopped"/);
    const made = new Set(
      readFileSync(calls, "utf8")
        .split("\n")
        .flatMap((line) => /^\d+ +([a-z]\w*)\(/.exec(line)?.[1] ?? []),
    );
    assert.ok(made.has("execve") && made.has("listen"));
    assert.deepEqual(
      [...made].filter((call) => !allowedCalls().has(call)),
      [],
    );
  });
});

function script(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
