import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Why a unit cannot be judged here. */
export const noSystemd =
  spawnSync("systemd-analyze", ["--version"]).status !== 0 &&
  "systemd-analyze is not here (apt-get install systemd)";

/** Who the service is on a machine of a test. */
export const serviceUser = 64_242;

const root = resolve(import.meta.dirname, "../..");
export const unitFile = join(root, "deploy/systemd/idsvc.service");

/** All values of a setting of the unit, in their order. */
export const unitSettings = (name: string): string[] =>
  readFileSync(unitFile, "utf8")
    .split("\n")
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1));

/**
 * A `systemctl` that starts the service as the unit tells, where no systemd runs: as a user who owns nothing but the
 * folder of its state, with its environment, and with its credentials where only that user reads them.
 */
export function systemctl(): string {
  const [state, credentials] = ["/var/lib", "/run/credentials/idsvc.service"];
  const user = serviceUser;
  const [command = ""] = unitSettings("ExecStart");
  const environment = unitSettings("Environment").map((each) =>
    each.replaceAll("%S", state).replaceAll("%d", credentials),
  );
  const load = unitSettings("LoadCredential").map((each) => {
    const [name = "", file = ""] = each.split(":");
    return `install -o ${user} -m 400 ${file} ${credentials}/${name}`;
  });
  return `#!/bin/sh -eu
case "$*" in "enable --now idsvc") ;; *) echo "not known here: $*" >&2; exit 1;; esac
mkdir -p ${credentials} ${state}/private && chmod 700 ${state}/private
${load.join("\n")}
# The folder is below one that only root enters, and stands in its place for the service.
install -d -o ${user} -g ${user} -m 700 ${state}/private/idsvc ${state}/idsvc
set -a; . /etc/idsvc/idsvc.env; ${environment.join("; ")}; set +a
setsid unshare --mount sh -euc 'mount --bind ${state}/private/idsvc ${state}/idsvc
exec setpriv --reuid ${user} --regid ${user} --clear-groups --no-new-privs --bounding-set=-all ${command}' >/var/log/idsvc 2>&1 &
`;
}

/** The system calls that the unit leaves to the service. */
export function allowedCalls(): Set<string> {
  const allowed = new Set<string>();
  for (const filter of unitSettings("SystemCallFilter"))
    for (const name of filter.replace(/^~/, "").split(" "))
      for (const call of callsOf(name)) allowed[filter.startsWith("~") ? "delete" : "add"](call);
  return allowed;
}

/** The calls of a group, and of the groups in it. */
function callsOf(name: string): string[] {
  if (!name.startsWith("@")) return [name];
  const list = ["syscall-filter", "--no-pager", name];
  return execFileSync("systemd-analyze", list, { encoding: "utf8" })
    .split("\n")
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .flatMap(callsOf);
}
