import { type DescExtension, type DescFile, type DescService, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectRouter } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "#gen/google/rpc/error_details_pb.ts";
import * as v1 from "#gen/grpc/reflection/v1/reflection_pb.ts";
import * as v1alpha from "#gen/grpc/reflection/v1alpha/reflection_pb.ts";

/**
 * Answers gRPC server reflection, v1 and v1alpha, for the services, for reflection itself and for all they depend on.
 *
 * The details of errors are there too, so that clients can print them. A file is answered together with its
 * dependencies, those left out that the same stream has sent before: a stream of small questions costs no more than the
 * schema and the files it names.
 *
 * Source: grpc/reflection/v1/reflection.proto; A10.
 */
export function registerReflection(router: ConnectRouter, services: readonly DescService[]): void {
  const index = indexOf([...services, v1.ServerReflection, v1alpha.ServerReflection]);
  router.service(v1.ServerReflection, {
    serverReflectionInfo: (requests) => answers(index, requests),
  });
  router.service(v1alpha.ServerReflection, {
    serverReflectionInfo: (requests) => answers(index, requests),
  });
}

type Index = {
  serviceNames: readonly string[];
  files: ReadonlyMap<string, DescFile>;
  /** The file of each declaration, by full name. */
  symbols: ReadonlyMap<string, DescFile>;
  /** By the full name of the message that is extended; empty for one that nothing extends. */
  extensions: ReadonlyMap<string, readonly DescExtension[]>;
};

// Both versions ask and answer in the same words; only their packages differ.
type Question = v1.ServerReflectionRequest | v1alpha.ServerReflectionRequest;

type Answer =
  | { case: "fileDescriptorResponse"; value: { fileDescriptorProto: Uint8Array[] } }
  | {
      case: "allExtensionNumbersResponse";
      value: { baseTypeName: string; extensionNumber: number[] };
    }
  | { case: "listServicesResponse"; value: { service: { name: string }[] } }
  | { case: "errorResponse"; value: { errorCode: number; errorMessage: string } };

async function* answers<T extends Question>(index: Index, requests: AsyncIterable<T>) {
  const sent = new Set<DescFile>();
  for await (const request of requests) {
    const messageResponse = answer(index, request.messageRequest, sent);
    yield { validHost: request.host, originalRequest: request, messageResponse };
  }
}

function answer(index: Index, question: Question["messageRequest"], sent: Set<DescFile>): Answer {
  switch (question.case) {
    case "listServices": {
      const service = index.serviceNames.map((name) => ({ name }));
      return { case: "listServicesResponse", value: { service } };
    }
    case "fileByFilename":
      return fileAnswer(index.files.get(question.value), "file", sent);
    case "fileContainingSymbol":
      // Some clients write the leading dot of a fully qualified name.
      return fileAnswer(index.symbols.get(question.value.replace(/^\./, "")), "symbol", sent);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      const extension = index.extensions
        .get(containingType)
        ?.find(({ number }) => number === extensionNumber);
      return fileAnswer(extension?.file, "extension", sent);
    }
    case "allExtensionNumbersOfType": {
      const extensions = index.extensions.get(question.value);
      if (extensions === undefined) return refusal(Code.NotFound, "no such message type");
      const extensionNumber = extensions.map(({ number }) => number);
      const value = { baseTypeName: question.value, extensionNumber };
      return { case: "allExtensionNumbersResponse", value };
    }
    case undefined:
      return refusal(Code.InvalidArgument, "the request asks nothing: set one of its questions");
  }
}

function fileAnswer(file: DescFile | undefined, what: string, sent: Set<DescFile>): Answer {
  if (file === undefined) return refusal(Code.NotFound, `no such ${what}`);
  // The file that was asked for comes first; clients tell it by that.
  sent.delete(file);
  const fileDescriptorProto = withDependencies(file, sent).map(serialize);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function refusal(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

/** The file, then what it depends on, without the files that are in `seen`, which grows by the answer. */
function withDependencies(file: DescFile, seen: Set<DescFile>): DescFile[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return [file, ...file.dependencies.flatMap((one) => withDependencies(one, seen))];
}

const serialized = new WeakMap<DescFile, Uint8Array>();

function serialize(file: DescFile): Uint8Array {
  const bytes = serialized.get(file) ?? toBinary(FileDescriptorProtoSchema, file.proto);
  serialized.set(file, bytes);
  return bytes;
}

function indexOf(services: readonly DescService[]): Index {
  const seen = new Set<DescFile>();
  const roots = [...services.map(({ file }) => file), file_google_rpc_error_details];
  const files = roots.flatMap((file) => withDependencies(file, seen));
  const symbols = new Map<string, DescFile>();
  const extensions = new Map<string, DescExtension[]>();
  for (const file of files) {
    for (const type of nestedTypes(file)) {
      for (const name of symbolsOf(type)) symbols.set(name, file);
      if (type.kind === "message" && !extensions.has(type.typeName))
        extensions.set(type.typeName, []);
      if (type.kind === "extension") {
        const { typeName } = type.extendee;
        extensions.set(typeName, [...(extensions.get(typeName) ?? []), type]);
      }
    }
  }
  return {
    serviceNames: [...new Set(services.map(({ typeName }) => typeName))].sort(),
    files: new Map(files.map((file) => [file.proto.name, file])),
    symbols,
    extensions,
  };
}

type NestedType = ReturnType<typeof nestedTypes> extends Iterable<infer T> ? T : never;

function symbolsOf(type: NestedType): string[] {
  const { typeName } = type;
  switch (type.kind) {
    case "message":
      return [
        typeName,
        ...[...type.fields, ...type.oneofs].map(({ name }) => `${typeName}.${name}`),
      ];
    case "enum": {
      // The values of an enum stand beside it, not in it.
      const scope = typeName.slice(0, typeName.lastIndexOf(".") + 1);
      return [typeName, ...type.values.map(({ name }) => `${scope}${name}`)];
    }
    case "service":
      return [typeName, ...type.methods.map(({ name }) => `${typeName}.${name}`)];
    case "extension":
      return [typeName];
  }
}
