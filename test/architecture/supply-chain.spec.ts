// Run: shared
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { objections } from "../../.ci/packages.ts";
import { sbom } from "../../.ci/sbom.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

type Dependencies = Record<string, string>;
type Manifest = Record<
  "dependencies" | "devDependencies" | "optionalDependencies",
  Dependencies | undefined
>;
type Locked = {
  version?: string;
  resolved?: string;
  integrity?: string;
  optional?: boolean;
  optionalDependencies?: Dependencies;
  os?: string[];
  cpu?: string[];
  libc?: string[];
};

const manifest: Manifest = JSON.parse(read("package.json"));
const lockfile: { packages: Record<string, Locked> } = JSON.parse(read("package-lock.json"));
const locked = Object.entries(lockfile.packages).filter(([path]) => path !== "");

/** The decision on libraries. */
const reasons = "docs/decisions/0092-libraries.md";

describe("a dependency", () => {
  const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = manifest;

  it("has an exact version", () => {
    const all = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
    assert.deepEqual(
      all.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version)),
      [],
    );
  });

  for (const name of Object.keys(dependencies)) {
    it(`has a written reason when the service runs with it: ${name}`, () => {
      const asWord = new RegExp(`(?<![\\w@/-])${name}(?![\\w/-])`);
      assert.ok(asWord.test(read(reasons)), `${reasons} says nothing about ${name}`);
    });
  }

  it("runs no script when it is installed", () => {
    assert.ok(read(".npmrc").split("\n").includes("ignore-scripts=true"));
  });
});

describe("the list of what is shipped", () => {
  it("has what the server loads and what the console bundles, and no tool", async () => {
    const { components, dependencies } = await sbom();
    const shipped = components.map((each) => each["bom-ref"].replace(/(?<=.)@.*$/, ""));
    for (const name of ["pino", "react", "react-dom", "@tanstack/react-router"])
      assert.equal(shipped.filter((each) => each === name).length, 1, name);
    for (const name of ["esbuild", "typescript", "playwright-core"])
      assert.ok(!shipped.includes(name), name);
    const described = dependencies.map(({ ref }) => ref);
    for (const each of components) assert.ok(described.includes(each["bom-ref"]), each["bom-ref"]);
  });
});

describe("the lockfile", () => {
  it("fixes the content of every package that the supported platform installs", () => {
    const loose = locked.filter(
      ([, entry]) => !entry.integrity?.startsWith("sha512-") && !isForeign(entry),
    );
    assert.deepEqual(
      loose.map(([path]) => path),
      [],
    );
  });

  it("holds no download address: each user's own registry serves the packages", () => {
    const addressed = locked.filter(([, entry]) => entry.resolved !== undefined);
    assert.deepEqual(
      addressed.map(([path]) => path),
      [],
    );
    assert.ok(read(".npmrc").split("\n").includes("omit-lockfile-registry-resolved=true"));
  });

  // Tools offer a build for each platform as an optional package. `npm ci` wants an entry for all of them, and installs
  // those that fit: the ones for other platforms may stand there by their version alone.
  const isForeign = ({ optional, os, cpu, libc }: Locked): boolean =>
    optional === true &&
    ((os !== undefined && !os.includes("linux")) ||
      (cpu !== undefined && !cpu.includes("x64")) ||
      (libc !== undefined && !libc.includes("glibc")));

  it("has an entry for every optional package, without which `npm ci` refuses", () => {
    const optional = locked.flatMap(([, entry]) => Object.keys(entry.optionalDependencies ?? {}));
    const missing = optional.filter((name) => !(`node_modules/${name}` in lockfile.packages));
    assert.deepEqual(missing, []);
  });

  it("agrees with package.json", () => {
    const { packages } = lockfile;
    const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
    const other = Object.entries(wanted).filter(
      ([name, version]) => packages[`node_modules/${name}`]?.version !== version,
    );
    assert.deepEqual(other, []);
  });
});

describe("a package that the registry is asked about", () => {
  const now = new Date("2026-11-20T12:00:00Z");
  const objectionsTo = (more: { published?: string; deprecated?: string; integrity?: string }) => {
    const { published = "2026-11-13T12:00:00Z", integrity = "sha512-x", ...facts } = more;
    const told = {
      time: { "1.0.0": published },
      versions: { "1.0.0": { ...facts, dist: { integrity } } },
    };
    return objections({ name: "a", version: "1.0.0", integrity: "sha512-x" }, told, now);
  };
  it("may be shipped from the seventh day on", () => {
    assert.deepEqual(objectionsTo({}), []);
    assert.deepEqual(objectionsTo({ published: "2026-11-13T12:00:01Z" }), ["6 days old"]);
  });
  it("may not when its makers gave it up, or it is another one there", () => {
    assert.deepEqual(objectionsTo({ deprecated: "use b" }), ["given up: use b"]);
    const other = objectionsTo({ integrity: "sha512-y" });
    assert.deepEqual(other, ["the registry has another content"]);
  });
  it("may not when nobody knows it", () => {
    const unknown = objections({ name: "a", version: "1.0.0" }, {}, now);
    assert.deepEqual(unknown, ["the registry does not know it"]);
  });
});

describe("the repository", () => {
  // In pieces, so that this file does not name what it forbids.
  const hosts = [
    ["registry", "npmjs"],
    ["registry", "yarnpkg"],
    ["registry", "npmmirror"],
    ["npm", "pkg"],
    ["npm", "jsr"],
    ["proxy", "golang"],
    ["files", "pythonhosted"],
  ].map((parts) => parts.join("."));
  const notOurs = ["node_modules", ".git", "dist", "data", "third_party"];

  it("names no host of a package registry", () => {
    const naming = files("").filter((file) => hosts.some((host) => read(file).includes(host)));
    assert.deepEqual(naming, []);
  });

  function files(folder: string): string[] {
    return readdirSync(join(root, folder), { withFileTypes: true })
      .filter(({ name }) => folder !== "" || !notOurs.includes(name))
      .flatMap((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return files(path);
        return entry.isFile() ? [path] : [];
      });
  }
});
