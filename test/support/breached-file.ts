import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file of `count` breached passwords as `IDSVC_BREACHED_PASSWORDS` takes it; `password` tells the one of a number. */
export function breachedFile(count: number) {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-breached-"));
  const path = join(folder, "passwords.txt");
  const password = (nth: number) => `known ${nth}`;
  const digests = Array.from({ length: count }, (_, nth) =>
    createHash("sha1").update(password(nth)).digest("hex").toUpperCase(),
  );
  writeFileSync(path, digests.toSorted().join(":3\r\n"));
  return { path, password, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}
