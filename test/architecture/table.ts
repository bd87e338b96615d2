import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

/** From the top down: imports go down or sideways, never up. */
export const bands = ["start", "edge", "slice", "kernel", "ground"] as const;

export type Row = {
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
export const words = ["errors.ts", "awaitable.ts", "constant-time.ts", "yielder.ts", "hardened.js"];
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
  mayImport: [
    "resources",
    "resources/object",
    "resources/history",
    "resources/messageprovider",
    "settings",
    "settings/object",
    "settings/policy",
    ...kernel,
    "texts",
  ],
  gen: "everything",
} as const;

/** The table of ARCHITECTURE.md. A file belongs to the longest row that its path begins with. */
export const rows: Record<string, Row> = {
  "main.js": { band: "start", mayImport: ["cli", "hardened.js", "resolve.js"] },
  "resolve.js": { band: "start", mayImport: [] },
  cli: {
    band: "start",
    mayImport: ["app", "projection", "egress", "crypto", "telemetry", "build.ts", ...words],
  },
  app: { band: "start", mayImport: "everything", gen: "everything" },

  api: {
    band: "edge",
    mayImport: ["authz", "telemetry", ...words],
    gen: ["google", "grpc", "idsvc/options", "idsvc/object"],
  },
  "oidc/core": { band: "edge", mayImport: ["awaitable.ts"] },
  oidc: {
    band: "edge",
    mayImport: ["oidc/core", "resources", "settings", "settings/policy", ...kernel, "egress"],
    gen: ["idsvc/resources", "idsvc/settings"],
  },
  login: {
    band: "edge",
    mayImport: [
      "oidc/core",
      "resources",
      "settings",
      "settings/policy",
      ...kernel,
      "telemetry",
      "texts",
      "notify",
      "html.ts",
    ],
    gen: ["idsvc/resources"],
  },
  account: {
    band: "edge",
    mayImport: ["login", "resources", "settings", "settings/policy", ...kernel, "texts", "html.ts"],
    gen: ["idsvc/resources"],
  },
  "console-server": {
    band: "edge",
    mayImport: [
      "oidc/core",
      "login",
      "resources",
      "settings",
      "settings/policy",
      ...kernel,
      "texts",
      "html.ts",
    ],
  },
  console: {
    band: "edge",
    mayImport: [],
    gen: ["idsvc/management", "idsvc/object", "idsvc/resources", "idsvc/settings", "google/rpc"],
  },
  client: { band: "edge", mayImport: [], gen: "everything" },

  resources: { ...slice, holdsSlices: true },
  "resources/object": { ...slice, mayImport: kernel, open: true },
  "resources/history": {
    ...slice,
    mayImport: ["resources", "resources/object", "settings/policy", ...kernel, "texts"],
    open: true,
  },
  "resources/messageprovider": {
    ...slice,
    mayImport: ["resources", "resources/object", ...kernel],
    open: true,
  },
  settings: { ...slice, holdsSlices: true },
  "settings/object": { ...slice, mayImport: kernel, open: true },
  "settings/policy": { ...slice, mayImport: ["settings/object", ...kernel, "texts"], open: true },
  management: { ...slice },
  setup: { ...slice },
  executor: { ...slice, mayImport: [...slice.mayImport, "egress", "telemetry"] },
  notify: { ...slice, mayImport: [...slice.mayImport, "egress", "telemetry", "html.ts"] },

  projection: {
    band: "kernel",
    mayImport: ["authz", "eventstore", "federation", "jobs", "storage", "egress", ...words],
  },
  federation: { band: "kernel", mayImport: ["egress", "telemetry", "threads", ...words] },
  jobs: { band: "kernel", mayImport: ["eventstore", "storage", ...words] },
  authz: { band: "kernel", mayImport: ["eventstore", "storage", ...words] },
  eventstore: { band: "kernel", mayImport: ["storage", "crypto", "telemetry", ...words] },

  "storage/sqlite": { band: "ground", mayImport: ["storage", "threads", "build.ts", ...words] },
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
  "yielder.ts": { band: "ground", mayImport: [] },
  "build.ts": { band: "ground", mayImport: ["errors.ts"] },
  "hardened.js": { band: "ground", mayImport: [] },
};

export const slices = ["resources", "settings", "management", "executor", "notify", "setup"];

export type Source = { path: string; text: string; imports: string[] };

export const sources = read("src");
export function read(top: string): Source[] {
  const folder = join(root, top);
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.[jt]sx?$/.test(path))
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

export function rowNamed(name: string): Row {
  const row = rows[name];
  assert.ok(row !== undefined, `the table has no row ${name}`);
  return row;
}

export const isIn = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`);

export function rowOf(path: string): string | undefined {
  return Object.keys(rows)
    .filter((row) => isIn(path, row))
    .sort((a, b) => b.length - a.length)[0];
}

export function allowed(row: string): readonly string[] {
  const { mayImport } = rowNamed(row);
  return mayImport === "everything" ? Object.keys(rows) : mayImport;
}

export function sliceOf(path: string): string | undefined {
  const row = rowOf(path);
  if (row === undefined || rowNamed(row).band !== "slice" || rowNamed(row).open) return undefined;
  return rowNamed(row).holdsSlices ? path.split("/", 2).join("/") : row;
}
