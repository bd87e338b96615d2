import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { paths } from "./paths.ts";

/** A file that pages load. Its path holds a hash of its content, so it may be kept for ever. */
export type Asset = { path: string; contentType: string; body: Buffer; cacheControl: string };

const contentTypes = {
  "login.css": "text/css; charset=utf-8",
  "account.css": "text/css; charset=utf-8",
  "login.js": "text/javascript; charset=utf-8",
  "passkey.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

type AssetName = keyof typeof contentTypes;

const byName = new Map(
  Object.entries(contentTypes).map(([name, contentType]) => [name, load(name, contentType)]),
);
const byPath = new Map([...byName.values()].map((asset) => [asset.path, asset]));

/** Where pages find a file. */
export const assetPath = (name: AssetName): string => byName.get(name)?.path ?? "";

/** The file at a path of ours; undefined for every other path. */
export const assetAt = (path: string): Asset | undefined => byPath.get(path);

function load(name: string, contentType: string): Asset {
  const body = readFileSync(join(import.meta.dirname, "assets", name));
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 16);
  const [stem, extension] = name.split(".");
  return {
    path: `${paths.assets}/${stem}.${hash}.${extension}`,
    contentType,
    body,
    cacheControl: "public, max-age=31536000, immutable",
  };
}
