// Run: shared
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { debianPackage } from "../../.ci/deb.ts";
import { noSystemd, unitFile } from "./unit.ts";

const folder = mkdtempSync(join(tmpdir(), "idsvc-unit-"));
after(() => rmSync(folder, { recursive: true }));

describe("the unit of systemd", { skip: noSystemd }, () => {
  it("exposes the system by 2.0 at most", () => {
    const analyze = ["security", "--offline=true", "--no-pager", "--threshold=20", unitFile];
    const { status, stdout } = spawnSync("systemd-analyze", analyze, { encoding: "utf8" });
    assert.match(stdout, /Overall exposure level for idsvc\.service: [01]\.\d/);
    assert.equal(status, 0, stdout);
  });

  it("is understood in every line", () => {
    const file = join(folder, "idsvc.service");
    // The command is not installed here.
    const text = readFileSync(unitFile, "utf8");
    writeFileSync(file, text.replace("ExecStart=/usr/bin/idsvc", "ExecStart=/bin/true"));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", file]);
    assert.equal(String(stderr), "");
    assert.equal(status, 0);
  });
});

describe("the Debian package", () => {
  it("has the same bytes whenever and by whomever it is built", () => {
    const built = (name: string, mask: number): Buffer => {
      const before = process.umask(mask);
      try {
        const installation = join(folder, name);
        mkdirSync(join(installation, "bin"), { recursive: true });
        for (const file of ["bin/node", "LICENSE"]) writeFileSync(join(installation, file), file);
        return readFileSync(debianPackage(installation, "amd64", join(folder, `${name}-made`)));
      } finally {
        process.umask(before);
      }
    };
    const first = built("first", 0o022);
    assert.ok(first.equals(built("second", 0o077)));
  });
});
