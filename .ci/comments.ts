import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FileDescriptorProto,
  type FileDescriptorSet,
  type ServiceDescriptorProto,
} from "@bufbuild/protobuf/wkt";

/**
 * The comments above the declarations of a schema, by name: `idsvc.x.v1.Message`, `.Message.field`, `.Message.oneof`,
 * `.Enum.VALUE`, `.Service`, `.Service.Method`. A value is named below its enum, not beside it as protobuf scopes it.
 *
 * Paragraphs are on one line each, as Markdown wants them.
 */
export function commentsOf({ file: files }: FileDescriptorSet): Record<string, string> {
  const found = files.flatMap(commentsOfFile);
  return Object.fromEntries(found.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

// The numbers of the fields that hold nested declarations, as the paths of `SourceCodeInfo` count them.
const inFile = { message: 4, enum: 5, service: 6 };
const inMessage = { field: 2, message: 3, enum: 4, oneof: 8 };
const inEnum = { value: 2 };
const inService = { method: 2 };

type Path = readonly number[];
type Named = { name: string };

function commentsOfFile(file: FileDescriptorProto): [name: string, comment: string][] {
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
