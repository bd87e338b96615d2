import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join, resolve } from "node:path";
import type {
  DescriptorProto,
  EnumDescriptorProto,
  FieldDescriptorProto,
  FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import { FieldDescriptorProto_Label, FieldDescriptorProto_Type } from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

const root = resolve(import.meta.dirname, "..");
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
 * Generates everything that follows from `proto/`: the TypeScript schema, and `idsvc.binpb` with the comments.
 *
 * Works without a network; equal input gives equal bytes.
 * @param target folder to put `gen/` into, so that a check can generate aside and compare
 */
export function generate(target: string = root): void {
  const folder = join(root, "third_party");
  rmSync(folder, { recursive: true, force: true });
  generateThirdParty(folder);
  buf("generate", "--output", target);
  const comments = join(target, "gen/idsvc.binpb");
  buf("build", "proto", "--as-file-descriptor-set", "--exclude-imports", "--output", comments);
}

/** Runs buf at the root of the repository. Its output goes to ours. */
export function buf(...args: string[]): void {
  const binary = join(dirname(require.resolve("@bufbuild/buf-linux-x64/package.json")), "bin/buf");
  // Plugins are found by name, and run under the Node that runs this.
  const path = [dirname(process.execPath), join(root, "node_modules/.bin"), process.env["PATH"]];
  execFileSync(binary, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, PATH: path.join(delimiter) },
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
