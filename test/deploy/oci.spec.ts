// Run: shared
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { settle } from "../../.ci/deb.ts";
import { Layout } from "../../.ci/oci.ts";

const folder = mkdtempSync(join(tmpdir(), "idsvc-oci-"));
after(() => rmSync(folder, { recursive: true }));
const date = 1_700_000_000;

/** Makes an image of one small layer. */
function make(name: string, umask: number, order: readonly string[]): Buffer {
  const before = process.umask(umask);
  try {
    const files = join(folder, `${name}-files`);
    mkdirSync(join(files, "data"), { recursive: true });
    for (const each of order) writeFileSync(join(files, each), each);
    settle(files, date);
    const layout = new Layout(join(folder, name), date);
    const layer = layout.layer(files, 65_532);
    const image = layout.image("amd64", { Entrypoint: ["/a"] }, [layer]);
    layout.close([image], "idsvc:1");
    layout.archive(image, "idsvc:1", join(folder, `${name}.tar`));
    return readFileSync(join(folder, `${name}.tar`));
  } finally {
    process.umask(before);
  }
}

describe("an image layout", () => {
  it("has the same bytes, whoever makes it and in whichever order files came", () => {
    const first = make("first", 0o022, ["a", "b"]);
    assert.ok(first.equals(make("second", 0o077, ["b", "a"])));
  });

  it("is found by tools of before OCI and of today, with owners by number and one time", () => {
    make("third", 0o022, ["a"]);
    const inside = join(folder, "inside");
    mkdirSync(inside);
    execFileSync("tar", ["-xf", join(folder, "third.tar"), "-C", inside]);
    const json = (name: string) => JSON.parse(readFileSync(join(inside, name), "utf8"));
    const [{ Config, Layers, RepoTags }] = json("manifest.json");
    const [{ digest, annotations }] = json("index.json").manifests;
    const manifest = json(`blobs/${digest.replace(":", "/")}`);
    assert.equal(`blobs/${manifest.config.digest.replace(":", "/")}`, Config);
    assert.deepEqual(RepoTags, ["idsvc:1"]);
    assert.equal(annotations["org.opencontainers.image.ref.name"], "1");
    assert.deepEqual(json(Config).config, { Entrypoint: ["/a"] });
    const list = ["-tzvf", join(inside, Layers[0]), "--full-time", "--utc"];
    const lines = execFileSync("tar", list, { encoding: "utf8" }).trim().split("\n");
    assert.deepEqual(
      lines.map((line) => line.replaceAll(/ +/g, " ")),
      [
        "-rw-r--r-- 65532/65532 1 2023-11-14 22:13:20 a",
        "drwxr-xr-x 65532/65532 0 2023-11-14 22:13:20 data/",
      ],
    );
  });
});
