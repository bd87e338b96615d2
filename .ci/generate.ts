import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import type {
  DescriptorProto,
  EnumDescriptorProto,
  FieldDescriptorProto,
  FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { commentsOf } from "./comments.ts";
import { commonPasswords } from "./common-passwords.ts";

const root = resolve(import.meta.dirname, "..");
const cache = join(root, "node_modules/.cache/buf");
const require = createRequire(import.meta.url);

const google = "node_modules/google-proto-files/google";
const reflection = "node_modules/@grpc/reflection/build/proto/grpc/reflection";

/** Where each file of third_party comes from. */
const thirdParty = {
  "google/api/annotations.proto": `${google}/api/annotations.proto`,
  "google/api/http.proto": `${google}/api/http.proto`,
  "google/rpc/code.proto": `${google}/rpc/code.proto`,
  "google/rpc/error_details.proto": `${google}/rpc/error_details.proto`,
  "google/rpc/status.proto": `${google}/rpc/status.proto`,
  "grpc/health/v1/health.proto": "node_modules/grpc-health-check/proto/health/v1/health.proto",
  "grpc/reflection/v1/reflection.proto": `${reflection}/v1/reflection.proto`,
  "grpc/reflection/v1alpha/reflection.proto": `${reflection}/v1alpha/reflection.proto`,
};

/**
 * Generates everything that follows from `proto/` and from pinned packages: the TypeScript schema with `comments.json`, and
 * `third_party/`, the schemas of others that ours import, and the common passwords.
 *
 * Works without a network; equal input gives equal bytes. The TypeScript is made of the third_party that is there.
 * @param target folder to put both into, so that a check can generate aside and compare
 */
export function generate(target: string = root): void {
  const folder = join(target, "third_party");
  // Where a package is missing, what is there stays.
  const passwords = commonPasswords(root);
  rmSync(folder, { recursive: true, force: true });
  generateThirdParty(folder);
  mkdirSync(join(folder, "passwords"));
  for (const [name, content] of Object.entries(passwords)) {
    writeFileSync(join(folder, "passwords", name), content);
  }
  buf("generate", "--output", target);
  describeQuickly(join(target, "gen"));
  writeComments(join(target, "gen/comments.json"));
  generateClient(join(target, "gen"));
}

/** Has the files of the schema describe themselves by `file_desc.ts`, which is a twentieth of the start quicker. */
function describeQuickly(gen: string): void {
  const imported = /^import \{ (.*)fileDesc(, )?(.*) \} (from "@bufbuild\/protobuf\/codegenv2";)$/m;
  for (const file of readdirSync(gen, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith("_pb.ts")) continue;
    const path = join(gen, file);
    const text = readFileSync(path, "utf8");
    if (!imported.test(text)) throw new Error(`${path} does not import fileDesc as expected`);
    const others = text.replace(
      imported,
      'import { fileDesc } from "#gen/file_desc.ts";\nimport { $1$3 } $4',
    );
    writeFileSync(path, others);
  }
  cpSync(join(import.meta.dirname, "file_desc.ts"), join(gen, "file_desc.ts"));
}

// As text, so that two branches that change comments merge.
function writeComments(path: string): void {
  const work = mkdtempSync(join(tmpdir(), "idsvc-generate-"));
  const image = join(work, "image.binpb");
  try {
    buf("build", "proto", "--as-file-descriptor-set", "--exclude-imports", "--output", image);
    const set = fromBinary(FileDescriptorSetSchema, readFileSync(image));
    writeFileSync(path, `${JSON.stringify(commentsOf(set), undefined, 2)}\n`);
  } finally {
    rmSync(work, { recursive: true });
  }
}

// The second file of two that declare the same names is exported under a name of its own.
const ownNames: Readonly<Record<string, string>> = {
  "idsvc/resources/org/v3alpha/organization_pb.ts": "organizationResource",
  "idsvc/resources/userschema/v3alpha/user_schema_pb.ts": "userSchemaResource",
  "idsvc/settings/object/v3alpha/object_pb.ts": "settingsObject",
};

/** Writes what the client exports: every message and enum, and the services by their short names. */
export function generateClient(gen: string): void {
  const files = readdirSync(join(gen, "idsvc"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("_pb.ts") && !file.startsWith("options"))
    .map((file) => `idsvc/${file}`)
    .toSorted();
  const schema = files.map((file) => {
    const name = ownNames[file];
    return `export *${name === undefined ? "" : ` as ${name}`} from "#gen/${file}";\n`;
  });
  const services = files.flatMap((file) => {
    const text = readFileSync(join(gen, file), "utf8");
    return [...text.matchAll(/^export const (\w+)Service: GenService</gm)].map(([, name = ""]) => ({
      file,
      name,
    }));
  });
  const short = (name: string) =>
    name.replace(/^[A-Z]+?(?=[A-Z][a-z]|[a-z]|$)/, (first) => first.toLowerCase());
  const imports = services.map(
    ({ file, name }) => `import { ${name}Service } from "#gen/${file}";\n`,
  );
  const entries = services.map(({ name }) => `  ${short(name)}: ${name}Service,\n`).toSorted();
  const header = "// Generated by `npm run generate`. Edit the schema instead.\n";
  writeFileSync(join(gen, "client_schema.ts"), `${header}${schema.join("")}`);
  writeFileSync(
    join(gen, "client_services.ts"),
    `${header}${imports.join("")}\nexport const services = {\n${entries.join("")}} as const;\n`,
  );
}

/** Runs buf at the root of the repository. Its output goes to ours. */
export const buf = (...args: string[]): void => void bufIn(root, args, "inherit");

/** Runs buf in a folder, and gives what it prints unless that goes to ours. @throws Error with what buf says */
export function bufIn(folder: string, args: string[], stdio: "inherit" | "pipe"): string | null {
  const binary = join(dirname(require.resolve("@bufbuild/buf-linux-x64/package.json")), "bin/buf");
  // Plugins are found by name, and run under the Node that runs this.
  const path = [dirname(process.execPath), join(root, "node_modules/.bin"), process.env["PATH"]];
  return execFileSync(binary, args, {
    cwd: folder,
    encoding: "utf8",
    stdio,
    // Without a home it would keep its files beside the sources.
    env: { BUF_CACHE_DIR: cache, ...process.env, PATH: path.join(delimiter) },
  });
}

/** Lays out the schemas of others that ours import, from pinned packages. */
export function generateThirdParty(folder: string): void {
  for (const [name, source] of Object.entries(thirdParty)) {
    cpSync(join(root, source), join(folder, name));
  }
  mkdirSync(join(folder, "buf/validate"), { recursive: true });
  writeFileSync(
    join(folder, "buf/validate/validate.proto"),
    printFile(file_buf_validate_validate.proto),
  );
}

// protovalidate ships its schema as a descriptor only, and buf compiles text only. Options are left out: the compiler
// needs the shape of the rules, their meaning comes from the descriptor at run time.
function printFile(file: FileDescriptorProto): string {
  return [
    "// From the descriptor in @bufbuild/protovalidate, of Buf Technologies, Inc. under the Apache License 2.0; options left out.",
    `syntax = "proto2";`,
    `package ${file.package};`,
    ...file.dependency.map((name) => `import "${name}";`),
    ...file.messageType.map(printMessage),
    ...file.enumType.map(printEnum),
    ...file.extension.map((field) => `extend ${field.extendee} {\n${printField(field)}\n}`),
    "",
  ].join("\n");
}

function printMessage(message: DescriptorProto): string {
  return [
    `message ${message.name} {`,
    ...message.field.filter((field) => !isChoice(field)).map(printField),
    ...message.oneofDecl.map((oneof, index) =>
      [
        `oneof ${oneof.name} {`,
        ...message.field
          .filter((field) => isChoice(field) && field.oneofIndex === index)
          .map(printField),
        "}",
      ].join("\n"),
    ),
    ...message.extensionRange.map(({ start, end }) =>
      end > 0x1fffffff ? `extensions ${start} to max;` : `extensions ${start} to ${end - 1};`,
    ),
    ...message.nestedType.map(printMessage),
    ...message.enumType.map(printEnum),
    "}",
  ].join("\n");
}

function printField(field: FieldDescriptorProto): string {
  const label = isChoice(field) ? "" : `${FieldDescriptorProto_Label[field.label].toLowerCase()} `;
  const type = field.typeName || FieldDescriptorProto_Type[field.type].toLowerCase();
  return `${label}${type} ${field.name} = ${field.number};`;
}

function isChoice(field: FieldDescriptorProto): boolean {
  return Object.hasOwn(field, "oneofIndex");
}

function printEnum(type: EnumDescriptorProto): string {
  return `enum ${type.name} {\n${type.value.map((value) => `${value.name} = ${value.number};`).join("\n")}\n}`;
}

if (import.meta.main) generate();
