import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";
import { consoleSchema } from "./console-schema.ts";
import { bufIn } from "./generate.ts";

const root = resolve(import.meta.dirname, "..");

/** Bundles the pages over the schema that clients have (decision 0343). */
export async function bundle(outdir: string, start: string): Promise<Metafile> {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-console-"));
  try {
    const template = join(root, "sdk/typescript/buf.gen.yaml");
    bufIn(root, ["generate", "--template", template, "--output", folder], "pipe");
    const { metafile } = await build({
      entryPoints: [start],
      outdir,
      absWorkingDir: root,
      nodePaths: [join(root, "node_modules")],
      bundle: true,
      splitting: true,
      format: "esm",
      target: "es2022",
      jsx: "automatic",
      minify: true,
      legalComments: "none",
      entryNames: "[name].[hash]",
      chunkNames: "[name].[hash]",
      define: { "process.env.NODE_ENV": '"production"' },
      plugins: [schemaIn(join(folder, "gen")), schemaOptions],
      metafile: true,
      logLevel: "silent",
    });
    return metafile;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The schema by names that are the same wherever it lies, so that equal sources give equal bytes. */
const schemaIn = (gen: string): Plugin => ({
  name: "schema",
  setup({ onResolve, onLoad }) {
    const namespace = "schema";
    onResolve({ filter: /^#gen\// }, ({ path }) => ({ path: path.slice(5), namespace }));
    onResolve({ filter: /^\./, namespace }, ({ path, importer }) => ({
      path: join(dirname(importer), path),
      namespace,
    }));
    onLoad({ filter: /./, namespace }, ({ path }) => ({
      contents: readFileSync(join(gen, path), "utf8"),
      loader: "ts",
      resolveDir: root,
    }));
  },
});

/** What forms need of the options that the schema above lacks. */
const schemaOptions: Plugin = {
  name: "schema options",
  setup({ onResolve, onLoad }) {
    const namespace = "schema-options";
    onResolve({ filter: /^#schema-options$/ }, ({ path }) => ({ path, namespace }));
    onLoad({ filter: /./, namespace }, () => {
      const json = JSON.stringify(consoleSchema());
      return { contents: `export const { rules, rest } = JSON.parse(${JSON.stringify(json)});` };
    });
  },
};
