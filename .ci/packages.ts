import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

// `npm run packages`: what the registry tells of each package that `npm ci` installs. None may be younger than seven days,
// given up by its makers, or of another content than the lockfile fixes. Ends with 1 when one is.

const root = resolve(import.meta.dirname, "..");
const leastDays = 7;
const together = 8;
const dayMs = 86_400_000;

/** What the lockfile says of a package. Those for other platforms may be there without `integrity`: nobody installs them here. */
export type Locked = { name: string; version: string; integrity?: string };

/** What the registry says of all versions of a package. */
export type Told = {
  time?: Record<string, string>;
  versions?: Record<string, { deprecated?: string; dist?: { integrity?: string } }>;
};

/** What speaks against a package; nothing when it may be shipped. */
export function objections({ version, integrity }: Locked, told: Told, now: Date): string[] {
  const { deprecated, dist } = told.versions?.[version] ?? {};
  const published = Date.parse(told.time?.[version] ?? "");
  if (Number.isNaN(published)) return ["the registry does not know it"];
  const days = Math.floor((now.getTime() - published) / dayMs);
  return [
    ...(days < leastDays ? [`${days} days old`] : []),
    ...(deprecated === undefined ? [] : [`given up: ${deprecated}`]),
    ...(dist?.integrity === integrity ? [] : ["the registry has another content"]),
  ];
}

function lockedPackages(): Locked[] {
  type Lockfile = { packages: Record<string, { version?: string; integrity?: string }> };
  const { packages }: Lockfile = JSON.parse(readFileSync(`${root}/package-lock.json`, "utf8"));
  const all = Object.entries(packages).flatMap(([path, { version, integrity }]) => {
    const name = path.split("node_modules/").at(-1) ?? "";
    return version === undefined || integrity === undefined || name === ""
      ? []
      : [{ name, version, integrity }];
  });
  return [...new Map(all.map((each) => [`${each.name}@${each.version}`, each])).values()];
}

async function main(): Promise<void> {
  const registry = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const all = lockedPackages();
  const waiting = all.values();
  const said: string[] = [];
  const ask = async () => {
    for (const each of waiting) {
      const url = new URL(each.name.replace("/", "%2f"), registry);
      const answer = await fetch(url);
      const told: Told = answer.ok ? Object(await answer.json()) : {};
      for (const objection of objections(each, told, new Date()))
        said.push(`${each.name} ${each.version}: ${objection}`);
    }
  };
  await Promise.all(Array.from({ length: together }, ask));
  for (const line of said.toSorted()) console.log(line);
  console.log(`${all.length} packages, ${said.length} objections`);
  if (said.length > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
