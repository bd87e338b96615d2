import { readFileSync } from "node:fs";
import { fromBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
  type ServiceDescriptorProto,
} from "@bufbuild/protobuf/wkt";

// Generated code carries no comments; this set does.
const descriptorSet = new URL("../../../gen/idsvc.binpb", import.meta.url);

let comments: ReadonlyMap<string, string> | undefined;

/**
 * The comment above a declaration of our schema; empty where there is none, and for every file that is not ours.
 *
 * Paragraphs are on one line each, as Markdown wants them. The file is read at the first call.
 * @param name `idsvc.x.v1.Message`, `.Message.field`, `.Message.oneof`, `.Enum.VALUE`, `.Service`, `.Service.Method`;
 *   a value is named below its enum, not beside it as protobuf scopes it
 */
export function commentOf(name: string): string {
  comments ??= readComments();
  return comments.get(name) ?? "";
}

function readComments(): ReadonlyMap<string, string> {
  const { file: files } = fromBinary(FileDescriptorSetSchema, readFileSync(descriptorSet));
  return new Map(files.flatMap(commentsOf));
}

// The numbers of the fields that hold nested declarations, as the paths of `SourceCodeInfo` count them.
const inFile = { message: 4, enum: 5, service: 6 };
const inMessage = { field: 2, message: 3, enum: 4, oneof: 8 };
const inEnum = { value: 2 };
const inService = { method: 2 };

type Path = readonly number[];
type Named = { name: string };

function commentsOf(file: FileDescriptorProto): [name: string, comment: string][] {
  const found: [string, string][] = [];
  const byPath = new Map(
    file.sourceCodeInfo?.location.map(({ path, leadingComments }) => [
      path.join("."),
      leadingComments,
    ]),
  );

  function each<T extends Named>(
    declarations: readonly T[],
    kind: number,
    scope: string,
    parent: Path,
    within?: (declaration: T, name: string, path: Path) => void,
  ): void {
    for (const [index, declaration] of declarations.entries()) {
      const name = scope === "" ? declaration.name : `${scope}.${declaration.name}`;
      const path = [...parent, kind, index];
      const comment = byPath.get(path.join("."));
      if (comment !== undefined && comment !== "") found.push([name, unwrap(comment)]);
      within?.(declaration, name, path);
    }
  }
  const enumeration = (type: EnumDescriptorProto, name: string, path: Path) =>
    each(type.value, inEnum.value, name, path);
  const service = (type: ServiceDescriptorProto, name: string, path: Path) =>
    each(type.method, inService.method, name, path);
  function message(type: DescriptorProto, name: string, path: Path): void {
    each(type.field, inMessage.field, name, path);
    each(type.oneofDecl, inMessage.oneof, name, path);
    each(type.enumType, inMessage.enum, name, path, enumeration);
    each(type.nestedType, inMessage.message, name, path, message);
  }
  each(file.messageType, inFile.message, file.package, [], message);
  each(file.enumType, inFile.enum, file.package, [], enumeration);
  each(file.service, inFile.service, file.package, [], service);
  return found;
}

// A line ends a paragraph only before an empty line, a list entry or indented text.
function unwrap(comment: string): string {
  const lines = comment.split("\n").map((line) => line.replace(/^ /, "").trimEnd());
  return lines
    .join("\n")
    .trim()
    .replace(/(?<=\S)\n(?=[^\s*-])/g, " ");
}
