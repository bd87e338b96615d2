// Run: alone
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, it } from "node:test";
import { knownPermissions } from "../../src/authz/roles.ts";

const root = resolve(import.meta.dirname, "../..");

/** From the top down: imports go down or sideways, never up. */
const bands = ["start", "edge", "slice", "kernel", "ground"] as const;

type Row = {
  band: (typeof bands)[number];
  /** Rows this one may import, besides itself. */
  mayImport: readonly string[] | "everything";
  /** Packages of the schema it may import. */
  gen?: readonly string[] | "everything";
  /** Each folder in it is a slice of its own. */
  holdsSlices?: true;
  /** Words that all slices of the group share: no door. */
  open?: true;
};

/** What any file may say. */
const words = ["errors.ts", "awaitable.ts", "constant-time.ts"];
const kernel = [
  "authz",
  "eventstore",
  "federation",
  "jobs",
  "projection",
  "storage",
  "crypto",
  ...words,
];
const slice = {
  band: "slice",
  mayImport: ["resources", "resources/object", "settings", "settings/object", ...kernel, "texts"],
  gen: "everything",
} as const;

/** The table of ARCHITECTURE.md. A file belongs to the longest row that its path begins with. */
const rows: Record<string, Row> = {
  "main.js": { band: "start", mayImport: ["cli"] },
  cli: {
    band: "start",
    mayImport: ["app", "projection", "egress", "crypto", "telemetry", ...words],
  },
  app: { band: "start", mayImport: "everything", gen: "everything" },

  api: {
    band: "edge",
    mayImport: ["executor", "authz", "telemetry", ...words],
    gen: ["google", "grpc", "idsvc/options", "idsvc/object"],
  },
  "oidc/core": { band: "edge", mayImport: ["awaitable.ts"] },
  oidc: {
    band: "edge",
    mayImport: ["oidc/core", "resources", "settings", ...kernel, "egress"],
    gen: ["idsvc/resources", "idsvc/settings"],
  },
  login: {
    band: "edge",
    mayImport: [
      "oidc/core",
      "resources",
      "settings",
      ...kernel,
      "telemetry",
      "texts",
      "notify",
      "html.ts",
    ],
    gen: ["idsvc/resources"],
  },
  client: { band: "edge", mayImport: [], gen: "everything" },

  resources: { ...slice, holdsSlices: true },
  "resources/object": { ...slice, mayImport: kernel, open: true },
  settings: { ...slice, holdsSlices: true },
  "settings/object": { ...slice, mayImport: kernel, open: true },
  management: { ...slice },
  executor: { ...slice, mayImport: [...slice.mayImport, "egress", "telemetry"] },
  notify: { ...slice, mayImport: [...slice.mayImport, "egress", "telemetry", "html.ts"] },

  projection: {
    band: "kernel",
    mayImport: ["authz", "eventstore", "federation", "jobs", "storage", "egress", ...words],
  },
  federation: { band: "kernel", mayImport: ["egress", "threads", ...words] },
  jobs: { band: "kernel", mayImport: ["eventstore", "storage", ...words] },
  authz: { band: "kernel", mayImport: ["eventstore", ...words] },
  eventstore: { band: "kernel", mayImport: ["storage", "crypto", "telemetry", ...words] },

  "storage/sqlite": { band: "ground", mayImport: ["storage", ...words] },
  "storage/postgres": { band: "ground", mayImport: ["storage", ...words] },
  storage: { band: "ground", mayImport: words },
  crypto: { band: "ground", mayImport: ["threads", ...words] },
  threads: { band: "ground", mayImport: words },
  egress: { band: "ground", mayImport: words },
  telemetry: { band: "ground", mayImport: words },
  texts: { band: "ground", mayImport: [] },
  "html.ts": { band: "ground", mayImport: [] },
  "errors.ts": { band: "ground", mayImport: [] },
  "awaitable.ts": { band: "ground", mayImport: [] },
  "constant-time.ts": { band: "ground", mayImport: ["awaitable.ts"] },
};

const slices = ["resources", "settings", "management", "executor", "notify"];

/** Packages that have a home: nothing else imports them. The first pattern that fits counts. */
const homes: readonly [pattern: RegExp, homes: readonly string[]][] = [
  [/^better-sqlite3$/, ["storage/sqlite"]],
  [/^pg$/, ["storage/postgres"]],
  [/^drizzle-orm\/.*-core$/, ["storage"]],
  [/^drizzle-orm\//, ["storage"]],
  [/^drizzle-orm$/, ["storage", "eventstore", "projection", ...slices]],
  [/^express$/, ["api/express.ts"]],
  [/^@connectrpc\/connect-web$/, ["client"]],
  [/^@connectrpc\/connect-node$/, ["api", "app"]],
  [/^@connectrpc\//, ["api", "client"]],
  [/^jose$/, ["authz", "crypto", "federation", "oidc/core"]],
  [/^(?:openid-client|@node-saml\/node-saml|ldapts)$/, ["federation"]],
  [/^(?:commander|cli-progress)$/, ["cli"]],
  [/^nodemailer$/, ["notify"]],
  [/^intl-messageformat$/, ["texts"]],
  [/^uqr$/, ["login"]],
  [/^negotiator$/, ["texts", "management"]],
];

const longestFile = 400;
const dumpingGrounds = ["utils", "util", "helpers", "common", "shared", "lib", "types"];

type Source = { path: string; text: string; imports: string[] };

const sources = read("src");

describe("the table of layers", () => {
  it("never points up", () => {
    const level = (row: string) => bands.indexOf(rowNamed(row).band);
    const up = Object.keys(rows).flatMap((from) =>
      allowed(from)
        .filter((to) => level(to) < level(from))
        .map((to) => `${from} -> ${to}`),
    );
    assert.deepEqual(up, []);
  });

  it("has no circle, apart from slices that use each other through their doors", () => {
    const inKernel = (row: string) => !["start", "slice"].includes(rowNamed(row).band);
    const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
      allowed(from)
        .filter((next) => inKernel(next) && !seen.has(next))
        .some((next) => next === to || reaches(next, to, seen.add(next)));
    assert.deepEqual(
      Object.keys(rows).filter((row) => inKernel(row) && reaches(row, row)),
      [],
    );
  });

  it("has a row for every file of src", () => {
    const homeless = sources.filter(({ path }) => rowOf(path) === undefined);
    assert.deepEqual(
      homeless.map(({ path }) => path),
      [],
    );
  });
});

describe("a file of src", () => {
  it("imports only what its row allows", () => {
    none((from, to) => {
      const [mine, other] = [rowOf(from), rowOf(to)];
      if (mine === undefined || other === undefined || mine === other) return undefined;
      return allowed(mine).includes(other) ? undefined : `${mine} may not import ${other}`;
    });
  });

  it("imports another slice only through its index.ts", () => {
    none((from, to) => {
      const other = sliceOf(to);
      if (other === undefined || other === sliceOf(from) || to === `${other}/index.ts`) return;
      return `the door of that slice is ${other}/index.ts`;
    });
  });

  it("imports only the schema that its row allows", () => {
    eachImport((from, specifier) => {
      if (!specifier.startsWith("#gen/")) return undefined;
      const gen = rowNamed(rowOf(from) ?? "").gen ?? [];
      const fits =
        gen === "everything" || gen.some((name) => specifier.startsWith(`#gen/${name}/`));
      return fits ? undefined : "its row may not import this part of the schema";
    });
  });

  it("leaves packages that have a home to that home", () => {
    eachImport((from, specifier) => {
      const home = homes.find(([pattern]) => pattern.test(specifier))?.[1];
      if (home === undefined || home.some((place) => isIn(from, place))) return undefined;
      return `only ${home.join(", ")} may import this package`;
    });
  });

  it("has no default export", () => {
    const found = sources.filter(({ text }) => /^export default\b|\bas default\b/m.test(text));
    assert.deepEqual(
      found.map(({ path }) => path),
      [],
    );
  });

  it("takes permissions from the schema: only authz/roles.ts spells them", () => {
    const spelled = sources
      .filter(({ path }) => path !== "authz/roles.ts")
      .flatMap(({ path, text }) =>
        [...text.matchAll(/["'`]([a-z_]+(?:\.[a-z_]+)+)["'`]/g)]
          .map(([, word = ""]) => word)
          .filter((word) => knownPermissions.has(word) || /\.(?:read|write|delete)$/.test(word))
          .map((word) => `${path} spells ${word}`),
      );
    assert.deepEqual(spelled, []);
  });
});

describe("a file of src or test", () => {
  it(`has at most ${longestFile} lines`, () => {
    const long = ["src", "test"].flatMap((top) =>
      read(top)
        .map(({ path, text }) => ({ path: `${top}/${path}`, lines: text.split("\n").length - 1 }))
        .filter(({ lines }) => lines > longestFile),
    );
    assert.deepEqual(long, []);
  });

  it("lies in no folder whose name says nothing", () => {
    const folders = ["src", "test", "proto"].flatMap((top) =>
      readdirSync(join(root, top), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isDirectory() && dumpingGrounds.includes(entry.name))
        .map((entry) => join(entry.parentPath, entry.name)),
    );
    assert.deepEqual(folders, []);
  });
});

function read(top: string): Source[] {
  const folder = join(root, top);
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.[jt]s$/.test(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(folder, path), "utf8");
      return { path, text, imports: importsOf(text) };
    });
}

// The formatter leaves an import in one of these forms: on one line, ending a list with `} from`, or as a call.
function importsOf(text: string): string[] {
  const forms =
    /^(?:import|export|\})[^\n"]* from "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;
  return [...text.matchAll(forms)].map(([, from, bare, call]) => from ?? bare ?? call ?? "");
}

function rowNamed(name: string): Row {
  const row = rows[name];
  assert.ok(row !== undefined, `the table has no row ${name}`);
  return row;
}

const isIn = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`);

function rowOf(path: string): string | undefined {
  return Object.keys(rows)
    .filter((row) => isIn(path, row))
    .sort((a, b) => b.length - a.length)[0];
}

function allowed(row: string): readonly string[] {
  const { mayImport } = rowNamed(row);
  return mayImport === "everything" ? Object.keys(rows) : mayImport;
}

function sliceOf(path: string): string | undefined {
  const row = rowOf(path);
  if (row === undefined || rowNamed(row).band !== "slice" || rowNamed(row).open) return undefined;
  return rowNamed(row).holdsSlices ? path.split("/", 2).join("/") : row;
}

function eachImport(judge: (from: string, specifier: string) => string | undefined): void {
  const violations = sources.flatMap(({ path, imports }) =>
    imports.flatMap((specifier) => {
      const reason = judge(path, specifier);
      return reason === undefined ? [] : [`${path} imports ${specifier}: ${reason}`];
    }),
  );
  assert.deepEqual(violations, []);
}

/** Fails with every import of a file of src by another that `judge` has something against. */
function none(judge: (from: string, to: string) => string | undefined): void {
  eachImport((from, specifier) =>
    specifier.startsWith(".") ? judge(from, join(dirname(from), specifier)) : undefined,
  );
}
