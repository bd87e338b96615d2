import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { home, settle, writeCommand } from "./deb.ts";
import {
  type Architecture,
  architectures,
  description,
  inFolder,
  install,
  root,
  sourceDate,
  version,
} from "./installation.ts";
import { type Image, Layout } from "./oci.ts";

/** Who the service is in the image; other users work too, where they may write its data. */
export const user = 65_532;

/** Folders whose mode is their own. */
const openFolders = [
  ["tmp", 0o1777],
  ["data", 0o700],
] as const;

/** What Node and the native modules load. Node brings its own certificates and time zones. */
const debianPackages = ["base-files", "libc6", "libgcc-s1", "libstdc++6", "gcc-12-base"];

export const settings = {
  User: `${user}:${user}`,
  Entrypoint: ["/usr/bin/idsvc"],
  Cmd: ["serve"],
  Env: [
    "PATH=/usr/bin",
    "IDSVC_DATA_DIR=/data",
    "IDSVC_HOST=0.0.0.0",
    "IDSVC_BOOTSTRAP_PRINT=false",
  ],
  WorkingDir: "/data",
  Volumes: { "/data": {} },
  ExposedPorts: { "8080/tcp": {} },
  StopSignal: "SIGTERM",
  Labels: {
    "org.opencontainers.image.title": "idsvc",
    "org.opencontainers.image.description": description,
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.licenses": "Apache-2.0",
  },
};

/** What one layer holds, and whose it is. */
type Part = { name: string; owner?: number; fill: (folder: string) => void };

/**
 * What an image of an installation (`install`) is made of: Debian's libraries, Node, the packages and the service, a layer each,
 * so that an update brings what has changed.
 */
function partsOf(installation: string, architecture: Architecture): Part[] {
  const copy = (names: readonly string[]) => (folder: string) => {
    for (const name of names) {
      const to = join(folder, home, name);
      mkdirSync(dirname(to), { recursive: true });
      cpSync(join(installation, name), to, { recursive: true });
    }
  };
  const others = readdirSync(installation).filter(
    (name) => !["bin", "node_modules", "LICENSE.node"].includes(name),
  );
  return [
    { name: "debian", fill: (folder) => debianRoot(folder, architecture) },
    { name: "node", fill: copy(["bin/node", "LICENSE.node"]) },
    { name: "packages", fill: copy(["node_modules"]) },
    {
      name: "service",
      fill(folder) {
        copy(["bin/idsvc.js", ...others])(folder);
        writeCommand(folder);
      },
    },
    { name: "data", owner: user, fill: (folder) => mkdirSync(join(folder, "data")) },
  ];
}

/** Gives a root, or a part of it, its modes and times. */
function finish(folder: string): void {
  settle(folder, sourceDate());
  for (const [name, mode] of openFolders)
    if (existsSync(join(folder, name))) chmodSync(join(folder, name), mode);
}

function addImage(layout: Layout, installation: string, architecture: Architecture): Image {
  const layers = partsOf(installation, architecture).map(({ fill, owner }) =>
    inFolder((folder) => {
      fill(folder);
      finish(folder);
      return layout.layer(folder, owner);
    }),
  );
  return layout.image(architecture, settings, layers);
}

/** Writes the root of an image into a folder, for a Dockerfile to copy. Needs root, as the data belong to another user. */
export function writeRoot(folder: string, installation: string, architecture: Architecture): void {
  mkdirSync(folder, { recursive: true });
  for (const { fill } of partsOf(installation, architecture)) fill(folder);
  finish(folder);
  chownSync(join(folder, "data"), user, user);
}

/** The libraries, who there is, and nothing else: no shell, no package manager. */
function debianRoot(folder: string, architecture: Architecture): void {
  inFolder((downloads) => {
    const unpacked = join(downloads, "unpacked");
    for (const file of download(downloads, architecture)) {
      execFileSync("dpkg-deb", ["--extract", file, unpacked]);
      // Where tools that look for weaknesses find which packages are in an image without a package manager.
      const [name = ""] = basename(file).split("_");
      const status = join(folder, "var/lib/dpkg/status.d");
      mkdirSync(status, { recursive: true });
      writeFileSync(join(status, name), execFileSync("dpkg-deb", ["--field", file]));
      keep(folder, unpacked, `usr/share/doc/${name}/copyright`);
    }
    for (const name of ["lib", "lib64", `usr/lib/${tripletOf(architecture)}`])
      keep(folder, unpacked, name);
    for (const name of ["usr/lib/os-release", "etc/os-release"]) keep(folder, unpacked, name);
    // Converters of encodings, which Node has itself.
    rmSync(join(folder, `usr/lib/${tripletOf(architecture)}/gconv`), { recursive: true });
  });
  const etc = join(folder, "etc");
  for (const name of [etc, join(folder, "tmp")]) mkdirSync(name, { recursive: true });
  const users = [`root:x:0:0:root:/:/sbin/nologin`, `idsvc:x:${user}:${user}::/data:/sbin/nologin`];
  writeFileSync(join(etc, "passwd"), users.map((line) => `${line}\n`).join(""));
  writeFileSync(join(etc, "group"), `root:x:0:\nidsvc:x:${user}:\n`);
  writeFileSync(join(etc, "nsswitch.conf"), "hosts: files dns\n");
}

const tripletOf = (architecture: Architecture): string =>
  ({ amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" })[architecture];

function keep(folder: string, unpacked: string, name: string): void {
  try {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    renameSync(join(unpacked, name), join(folder, name));
  } catch (error) {
    // The other processor's loader stands elsewhere, and some packages share one document.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Downloads packages from where this machine has its own, whatever its processor, and lets apt check their signatures. */
function download(folder: string, architecture: Architecture): string[] {
  for (const name of ["state/lists/partial", "cache/archives/partial", "debs"])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "status"), "");
  const options = [
    `Dir::State=${join(folder, "state")}`,
    `Dir::State::status=${join(folder, "status")}`,
    `Dir::Cache=${join(folder, "cache")}`,
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    "APT::Sandbox::User=",
    "Acquire::Languages=none",
  ].flatMap((option) => ["-o", option]);
  const cwd = join(folder, "debs");
  const apt = (...args: string[]) =>
    execFileSync("apt-get", ["-qq", ...options, ...args], {
      cwd,
      stdio: ["ignore", "ignore", "inherit"],
    });
  apt("update");
  apt("download", ...debianPackages);
  return readdirSync(cwd)
    .toSorted()
    .map((name) => join(cwd, name));
}

/**
 * Makes the images of some processors in `target`: a layout of all (`layout`), for registries, and a file of each, to be loaded.
 *
 * @returns the files
 */
export function images(
  target: string,
  all: readonly { installation: string; architecture: Architecture }[],
): string[] {
  const tag = `idsvc:${version}`;
  rmSync(join(target, "layout"), { recursive: true, force: true });
  const layout = new Layout(join(target, "layout"), sourceDate());
  const made = all.map((each) => addImage(layout, each.installation, each.architecture));
  layout.close(made, tag);
  return made.map((image) => {
    const file = join(target, `idsvc_${version}_${image.manifest.platform.architecture}.oci.tar`);
    layout.archive(image, tag, file);
    return file;
  });
}

function main(flag = "", target = ""): void {
  const wanted = flag === "--root" ? [process.arch === "arm64" ? "arm64" : "amd64"] : architectures;
  inFolder((folder) => {
    const all = architectures
      .filter((each) => wanted.includes(each))
      .map((architecture) => ({ installation: join(folder, architecture), architecture }));
    for (const { installation, architecture } of all) install(installation, architecture);
    const [first] = all;
    if (flag !== "--root") console.log(images(join(root, "dist/packages"), all).join("\n"));
    else if (first !== undefined) writeRoot(target, first.installation, first.architecture);
  });
}

if (import.meta.main) main(...process.argv.slice(2));
