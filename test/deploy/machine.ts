import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** Why no machine can be had here; undefined where it can. */
export function noMachine(): string | false {
  if (process.getuid?.() !== 0) return "only root may mount";
  const script = `${overlay("$(mktemp -d)")}; ip link set lo up`;
  const { status, stderr } = isolated(script, "");
  return status === 0 ? false : `the kernel refuses: ${stderr.trim()}`;
}

/** Where a script begins on a machine. */
export const home = "/root/work";

/**
 * Runs a script on a machine that is this one with a network of its own, whose changes are gone afterwards: packages can be
 * installed, and every port is free. All that it has started ends with it.
 *
 * @param files and folders that are in `home`, where the script begins
 */
export function onMachine(script: string, files: readonly string[]): string {
  const shared = mkdtempSync(join(tmpdir(), "idsvc-machine-"));
  try {
    for (const file of files)
      cpSync(file, join(shared, "files", basename(file)), { recursive: true });
    const enter = `${overlay(shared)}
      ip link set lo up
      cp -r ${shared}/files $root${home}
      exec chroot $root sh -c 'cd ${home} && exec bash -eu -o pipefail'`;
    const { status, stdout, stderr } = isolated(enter, script);
    if (status !== 0) throw new Error(`ended with ${status}\n${stdout}\n${stderr}`);
    return stdout;
  } finally {
    rmSync(shared, { recursive: true });
  }
}

const overlay = (folder: string): string => `
  folder=${folder}; mkdir -p $folder/changes; mount -t tmpfs changes $folder/changes
  root=$folder/changes/root; mkdir $folder/changes/upper $folder/changes/work $root
  mount -t overlay overlay -o lowerdir=/,upperdir=$folder/changes/upper,workdir=$folder/changes/work $root
  mount -t proc proc $root/proc; mount --rbind /dev $root/dev
  for each in tmp run; do mount -t tmpfs $each $root/$each; done; chmod 1777 $root/tmp`;

function isolated(script: string, input: string) {
  const namespaces = ["--mount", "--net", "--ipc", "--uts", "--pid", "--fork", "--kill-child"];
  return spawnSync("unshare", [...namespaces, "sh", "-euc", script], {
    input,
    encoding: "utf8",
    timeout: 300_000,
    env: { PATH: process.env["PATH"] ?? "", HOME: "/root", LC_ALL: "C.UTF-8" },
  });
}
