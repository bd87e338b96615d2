import type { Begin } from "../projection/module.ts";
import type { Kernel } from "./kernel.ts";

/** What slices set in an instance that is about to be made, in the order of `modules.ts`. */
export const beginsOf = ({ modules, newId, secrets }: Kernel): Promise<Begin[]> =>
  Promise.all(modules.flatMap(({ begins }) => begins?.({ newId, secrets }) ?? []));
