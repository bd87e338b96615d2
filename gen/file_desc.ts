// Written by `npm run generate` from .ci/file_desc.ts.
import type { DescFile } from "@bufbuild/protobuf";
import { fileDesc as describe, type GenFile } from "@bufbuild/protobuf/codegenv2";

/**
 * Describes a file of the schema as the library does, which looks through all files that are imported, by each way that leads to
 * them: ten thousand times for a hundred files. A file can name only what those declare that it imports itself, so those are all
 * that the library is shown.
 */
export function fileDesc(base64: string, imports: readonly DescFile[] = []): GenFile {
  const alone = imports.map((file) => ({ ...file, dependencies: [] }));
  const file = describe(base64, alone);
  const dependencies = file.dependencies.map(
    (each) => imports.find(({ name }) => name === each.name) ?? each,
  );
  return Object.assign(file, { dependencies });
}
