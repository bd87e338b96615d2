import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  type Architecture,
  architectures,
  inFolder,
  install,
  root,
  sourceDate,
  version,
} from "./installation.ts";

/** Where the service is, in packages and images. */
export const home = "usr/lib/idsvc";

const scripts = ["postinst", "prerm", "postrm"];
const configuration = "etc/idsvc/idsvc.env";

/**
 * Makes the Debian package of an installation (`install`), as anybody and on any machine that has `dpkg-deb`. Equal
 * sources give equal bytes.
 *
 * @returns the file
 */
export function debianPackage(
  installation: string,
  architecture: Architecture,
  target: string,
  compression: "xz" | "none" = "xz",
): string {
  mkdirSync(target, { recursive: true });
  return inFolder((tree) => {
    const put = (from: string, to: string, mode = 0o644) => {
      mkdirSync(dirname(join(tree, to)), { recursive: true });
      copyFileSync(join(root, from), join(tree, to));
      chmodSync(join(tree, to), mode);
    };
    cpSync(installation, join(tree, home), { recursive: true });
    writeCommand(tree);
    put("deploy/systemd/idsvc.service", "usr/lib/systemd/system/idsvc.service");
    put("deploy/systemd/idsvc.env", configuration);
    put("deploy/debian/copyright", "usr/share/doc/idsvc/copyright");
    put("docs/deploy/systemd.md", "usr/share/doc/idsvc/systemd.md");
    const bytes = sizeOf(tree);
    for (const name of scripts) put(`deploy/debian/${name}`, `DEBIAN/${name}`, 0o755);
    writeFileSync(join(tree, "DEBIAN/conffiles"), `/${configuration}\n`, { mode: 0o644 });
    writeFileSync(join(tree, "DEBIAN/control"), control(architecture, bytes), { mode: 0o644 });
    const date = sourceDate();
    settle(tree, date);
    const file = join(target, `idsvc_${version}_${architecture}.deb`);
    const how = ["--root-owner-group", `-Z${compression}`, "--build", tree, file];
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(date) };
    execFileSync("dpkg-deb", how, { stdio: ["ignore", "ignore", "inherit"], env });
    return file;
  });
}

/** `idsvc` on the PATH. No shell is needed, which images lack. */
export function writeCommand(tree: string): void {
  const file = join(tree, "usr/bin/idsvc");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/${home}/bin/node\nimport "/${home}/bin/idsvc.js";\n`);
  chmodSync(file, 0o755);
}

/** Gives all files one time, and modes that are the same wherever they are built. */
export function settle(folder: string, date: number): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    if (entry.isFile()) chmodSync(path, (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);
    lutimesSync(path, date, date);
  }
  chmodSync(folder, 0o755);
  lutimesSync(folder, date, date);
}

function control(architecture: Architecture, bytes: number): string {
  return readFileSync(join(root, "deploy/debian/control"), "utf8")
    .replace("@VERSION@", version)
    .replace("@ARCHITECTURE@", architecture)
    .replace("@INSTALLED_SIZE@", String(Math.ceil(bytes / 1024)));
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

if (import.meta.main) {
  for (const architecture of architectures)
    inFolder((folder) => {
      const installation = join(folder, "installation");
      install(installation, architecture);
      console.log(debianPackage(installation, architecture, join(root, "dist/packages")));
    });
}
