// Preloaded (`--import`) by the search for power: changes sources as they are loaded, in its threads too.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { type Edit, faster, rulings } from "./replacements.ts";

const root = new URL("../../../", import.meta.url);
const without = process.env["IDSVC_AUTHORITY_WITHOUT"] ?? "";
const ruling = rulings[without];
if (without !== "" && ruling === undefined) throw new Error(`there is no ruling ${without}`);

const edits = Map.groupBy([...faster, ...(ruling ?? [])], ({ file }) => new URL(file, root).href);
registerHooks({
  load(url, context, nextLoad) {
    const own = edits.get(url);
    const loaded = nextLoad(url, context);
    if (own === undefined) return loaded;
    const source = readFileSync(fileURLToPath(url), "utf8");
    return { ...loaded, source: own.reduce(edited, source) };
  },
});

/** A source that reads otherwise than the search believes is an error: nothing may be left in force unnoticed. */
function edited(source: string, { file, from, to }: Edit): string {
  if (source.split(from).length !== 2) throw new Error(`${file} does not say once: ${from}`);
  return source.replace(from, () => to);
}
