// Run: alone, long
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { images, settings, writeRoot } from "../../.ci/image.ts";
import { type Architecture, architectures, install } from "../../.ci/installation.ts";
import { home } from "../../.ci/deb.ts";
import { docker } from "./docker.ts";
import { logIn, signedIn } from "./log-in.ts";
import { servesIn } from "./in-root.ts";
import { noMachine, onMachine } from "./machine.ts";

const page = readFileSync(resolve(import.meta.dirname, "../../docs/deploy/image.md"), "utf8");
const [commands = ""] = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, text = ""]) => text);
const mostBytes = 75_000_000;
// Of the processor, from the beginning to the first answer that it is ready, on a volume that is empty and on one that is not.
const mostReadyMs = [1_400, 1_100];
const elfMachines = { amd64: 0x3e, arm64: 0xb7 };

const folder = mkdtempSync(join(tmpdir(), "idsvc-image-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const layout = join(folder, "layout");
let files: string[];

type Descriptor = { digest: string; size: number; platform?: { architecture: string } };
type Manifest = { config: Descriptor; layers: Descriptor[] };
const read = ({ digest, size }: Descriptor): Buffer => {
  const bytes = readFileSync(join(layout, "blobs", digest.replace(":", "/")));
  assert.equal(bytes.length, size);
  assert.equal(`sha256:${createHash("sha256").update(bytes).digest("hex")}`, digest);
  return bytes;
};
const manifests = () => {
  const {
    manifests: [index],
  } = JSON.parse(readFileSync(join(layout, "index.json"), "utf8"));
  const { manifests: all }: { manifests: Descriptor[] } = JSON.parse(String(read(index)));
  return all.map((each) => {
    const manifest: Manifest = JSON.parse(String(read(each)));
    return { ...manifest, architecture: each.platform?.architecture };
  });
};

before(() => {
  const all = architectures.map((architecture) => {
    const installation = join(folder, architecture);
    install(installation, architecture);
    return { installation, architecture };
  });
  files = images(folder, all);
});

describe("the image", () => {
  it("is one of two platforms, whose blobs are what their names say", () => {
    assert.deepEqual(
      manifests().map(({ architecture }) => architecture),
      ["amd64", "arm64"],
    );
    for (const { config, layers, architecture } of manifests()) {
      const image = JSON.parse(String(read(config)));
      assert.equal(image.architecture, architecture);
      assert.deepEqual(image.config, settings);
      assert.equal(image.rootfs.diff_ids.length, layers.map(read).length);
    }
  });

  it("has the same bytes whenever it is built", () => {
    const again = join(folder, "again");
    const all = architectures.map((architecture) => {
      const installation = join(again, architecture);
      install(installation, architecture);
      return { installation, architecture };
    });
    const digestOf = (file: string) =>
      createHash("sha256").update(readFileSync(file)).digest("hex");
    assert.deepEqual(images(again, all).map(digestOf), files.map(digestOf));
  });

  it("has 75 MB at most, compressed", () => {
    for (const file of files) assert.ok(statSync(file).size <= mostBytes, `${statSync(file).size}`);
    assert.equal(files.length, 2);
  });

  for (const architecture of architectures)
    it(`holds code of its processor alone, and no shell: ${architecture}`, () => {
      const root = rootOf(architecture);
      const list = execFileSync("find", [root, "-type", "f", "-size", "+1"], { encoding: "utf8" });
      const elf = list
        .split("\n")
        .filter((path) => path !== "")
        .flatMap((path) => {
          const head = readFileSync(path).subarray(0, 20);
          return head.toString("latin1", 1, 4) === "ELF"
            ? [{ path, machine: head.readUInt16LE(18) }]
            : [];
        });
      assert.ok(elf.some(({ path }) => path.endsWith("/bin/node")));
      assert.equal(elf.filter(({ path }) => path.endsWith(".node")).length, 3);
      assert.deepEqual(
        elf.filter(({ machine }) => machine !== elfMachines[architecture]),
        [],
      );
      for (const name of ["bin/sh", "usr/bin/sh"]) assert.ok(!existsSync(join(root, name)));
    });

  it("is what the Dockerfile copies", { skip: process.getuid?.() !== 0 && "needs root" }, () => {
    const copied = join(folder, "copied");
    writeRoot(copied, join(folder, "amd64"), "amd64");
    const listed = (root: string) =>
      execFileSync("find", [root, "-mindepth", "1", "-printf", "%P %M %U:%G %s %T@ %l\n"], {
        encoding: "utf8",
        maxBuffer: 2 ** 28,
      })
        .split("\n")
        // The size of a folder is the file system's.
        .map((line) => line.replace(/ (d\S+ \d+:\d+) \d+ /, " $1 "))
        .toSorted();
    assert.deepEqual(listed(copied), listed(rootOf("amd64")));
  });

  it("serves after the printed commands, from a read-only root as user 65532", {
    skip: noMachine(),
  }, () => {
    const told = inImage(`begun=$(date +%s)
      processor_ms() { awk '{ print ($14 + $15) * 10 }' /proc/$(cat /run/containers/idsvc/pid)/stat; }
      ${commands.replace(/^until .*$/m, "$&\necho first $(processor_ms)")}
      echo
      [ $(($(date +%s) - begun)) -lt 60 ]
      PASSWORD=$(sed -n 's/.*"password": "\\(.*\\)".*/\\1/p' bootstrap.json)
      curl -sS http://localhost:8080/resources/v3alpha/sessions -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
        -d '{"checks":{"user":{"login_name":"admin@idsvc.localhost"},"password":{"password":"'$PASSWORD'"}}}'
      echo
      log_in http://localhost:8080 admin@idsvc.localhost "$PASSWORD"
      stat -c 'owner %u %n' /volumes/idsvc/idsvc.db
      kill $(cat /run/containers/idsvc/pid)
      while kill -0 $(cat /run/containers/idsvc/pid) 2>/dev/null; do sleep 0.1; done
      ${startOf(commands)}
      echo second $(processor_ms)`);
    assert.match(told, /"login_names":\["admin@idsvc\.localhost"\]/);
    assert.match(told, /"session_token":"/);
    assert.match(told, signedIn);
    assert.match(told, /^owner 65532 /m);
    const ready = ["first", "second"].map((start) =>
      Number(new RegExp(`^${start} (\\d+)$`, "m").exec(told)?.[1]),
    );
    for (const [at, most] of mostReadyMs.entries())
      assert.ok(
        Number(ready[at]) <= most,
        `${ready.join(", ")} ms of the processor until it is ready`,
      );
  });

  it("serves on arm64: its Node and its native modules run, under an emulator", {
    skip: process.getuid?.() !== 0 && "needs root",
  }, async () => {
    const root = rootOf("arm64");
    // What the command of the image begins is begun here: the emulator does not follow into other programs.
    const program = [addEmulator(root), `/${home}/bin/node`, `/${home}/src/main.js`, "serve"];
    await servesIn(root, program, {});
  });

  it("serves by two processes on SQLite, with the one that writes", {
    skip: process.getuid?.() !== 0 && "needs root",
  }, async () => {
    const program = [...settings.Entrypoint, ...settings.Cmd];
    await servesIn(rootOf("amd64"), program, { IDSVC_PROCESSES: "2" });
  });

  it("ends with one line and the remedy where key, volume or owner are wrong", {
    skip: noMachine(),
  }, () => {
    const key = '-e IDSVC_MASTER_KEY="$(openssl rand -base64 32)"';
    const told = inImage(
      ["", `--read-only ${key}`, `--user 1000:1000 -v data:/data ${key}`]
        .map(
          (options) => `docker run -d --name idsvc ${options} idsvc:0.1.0
            while kill -0 $(cat /run/containers/idsvc/pid) 2>/dev/null; do sleep 0.1; done
            docker logs idsvc`,
        )
        .join("\n")
        .replace(/^/, "docker load -i idsvc_0.1.0_amd64.oci.tar\n"),
    );
    const [noKey = "", noVolume = "", notOwner = "", ...rest] = told.trim().split("\n");
    assert.match(noKey, /openssl rand -base64 32.* \(MASTER_KEY_REQUIRED\)$/);
    assert.match(noVolume, /mount a volume.* \(DATA_DIR_UNUSABLE\)$/);
    assert.match(notOwner, /chown -R 1000 \/data\).* \(DATA_DIR_UNUSABLE\)$/);
    assert.deepEqual(rest, []);
  });
});

/** The commands of the page that start a container and wait for it. */
const startOf = (all: string): string =>
  all
    .split("\n")
    .filter((line) => /^(?:docker run|until) /.test(line))
    .join("\n");

/** The root of an image, from its layers. */
function rootOf(architecture: Architecture): string {
  const root = join(folder, `root-${architecture}`);
  if (existsSync(root)) return root;
  execFileSync("mkdir", [root]);
  const { layers = [] } = manifests().find((each) => each.architecture === architecture) ?? {};
  for (const { digest } of layers)
    execFileSync("tar", ["-xzf", join(layout, "blobs", digest.replace(":", "/")), "-C", root]);
  return root;
}

/** Puts Debian's emulator of the processor into a root. */
function addEmulator(root: string): string {
  const cwd = join(folder, "emulator");
  execFileSync("mkdir", [cwd]);
  execFileSync("apt-get", ["-qq", "-o", "APT::Sandbox::User=", "download", "qemu-user-static"], {
    cwd,
    stdio: "ignore",
  });
  const [file = ""] = readdirSync(cwd);
  execFileSync("dpkg-deb", ["--extract", file, "."], { cwd });
  copyFileSync(join(cwd, "usr/bin/qemu-aarch64-static"), join(root, "emulator"));
  return "/emulator";
}

function inImage(script: string): string {
  const standIn = join(folder, "docker.sh");
  writeFileSync(standIn, docker());
  const [amd64 = ""] = files;
  return onMachine(`${logIn}\ninstall -m 755 docker.sh /usr/local/bin/docker\n${script}`, [
    amd64,
    standIn,
  ]);
}
