import { readFileSync } from "node:fs";

/** The version of this build, from its package. */
export const version: string = String(
  Reflect.get(
    Object(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))),
    "version",
  ),
);
