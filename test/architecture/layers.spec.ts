// Run: shared
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { knownPermissions } from "../../src/authz/roles.ts";
import {
  allowed,
  bands,
  isIn,
  read,
  root,
  rowNamed,
  rowOf,
  rows,
  sliceOf,
  slices,
  sources,
} from "./table.ts";

/** Packages that have a home: nothing else imports them. The first pattern that fits counts. */
const homes: readonly [pattern: RegExp, homes: readonly string[]][] = [
  [/^better-sqlite3$/, ["storage/sqlite"]],
  [/^pg$/, ["storage/postgres"]],
  [/^drizzle-orm\/.*-core$/, ["storage"]],
  [/^drizzle-orm\//, ["storage"]],
  [/^drizzle-orm$/, ["storage", "eventstore", "projection", ...slices]],
  [/^express$/, ["api/express.ts"]],
  [/^@connectrpc\/connect-(?:web|query)$/, ["client", "console"]],
  [/^@connectrpc\/connect-node$/, ["api", "app"]],
  [/^@connectrpc\//, ["api", "client", "console"]],
  [/^(?:react|react-dom|@tanstack|@base-ui)(?:\/|$)/, ["console"]],
  [/^jose$/, ["authz", "crypto", "federation", "oidc/core"]],
  [/^(?:openid-client|@node-saml\/node-saml|ldapts)$/, ["federation"]],
  [/^(?:commander|cli-progress)$/, ["cli"]],
  [/^nodemailer$/, ["notify"]],
  [/^intl-messageformat$/, ["texts"]],
  [/^uqr$/, ["login"]],
  [
    /^@opentelemetry\//,
    ["telemetry/opentelemetry.ts", "telemetry/span-batches.ts", "telemetry/span-encoder.ts"],
  ],
  [/^negotiator$/, ["texts", "management"]],
];

const longestFile = 400;
const dumpingGrounds = ["utils", "util", "helpers", "common", "shared", "lib", "types"];

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

  it("has no circle, apart from slices, which have an order of their own", () => {
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

  it("marks no objects that come from elsewhere: what is kept beside one follows from it alone (decision 0331)", () => {
    const marking = sources.filter(({ text }) => /^(?:export )?const \w+ = new Weak/m.test(text));
    assert.deepEqual(marking.map(({ path }) => path).toSorted(), cachesByObject);
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

/** Files that keep beside an object, for as long as it lives, what is computed of nothing but the object. */
const cachesByObject = [
  "api/inside-recursion.ts",
  "api/interceptors/authenticate.ts",
  "api/precheck.ts",
  "api/system/reflection.ts",
  "api/transcode/json.ts",
  "authz/secret-fields.ts",
  "crypto/key-object.ts",
  "html.ts",
  "resources/userschema/data.ts",
  "storage/selection.ts",
  "texts/texts.ts",
];

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
