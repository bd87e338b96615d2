import type { Begin } from "../projection/module.ts";
import type { Kernel } from "./kernel.ts";

/** What slices set in an instance that is about to be made, in the order of `modules.ts`. */
export async function beginsOf({ modules, newId, secrets }: Kernel): Promise<Begin[]> {
  const all: Begin[] = [];
  for (const { begins } of modules) {
    if (begins !== undefined) all.push(await begins({ newId, secrets }));
  }
  return all;
}
