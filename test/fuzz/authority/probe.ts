import { create, createFileRegistry, type DescService, setExtension } from "@bufbuild/protobuf";
import {
  EmptySchema,
  FileDescriptorProtoSchema,
  file_google_protobuf_empty,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import {
  method as methodOptions,
  MethodOptionsSchema as OwnOptionsSchema,
} from "#gen/idsvc/options/v1/options_pb.ts";
import type { Scope } from "../../../src/authz/context.ts";
import type { Module } from "../../../src/projection/module.ts";

const service = compile();
/** Where whoever holds a bearer token is told, to this process alone, what the service takes them for. */
export const probePath = `/${service.typeName}/WhoAmI`;

function compile(): DescService {
  const options = create(MethodOptionsSchema);
  setExtension(options, methodOptions, create(OwnOptionsSchema, { permission: "authenticated" }));
  const empty = ".google.protobuf.Empty";
  const file = create(FileDescriptorProtoSchema, {
    name: "test/authority/probe.proto",
    package: "test.authority",
    syntax: "proto3",
    dependency: ["google/protobuf/empty.proto"],
    service: [
      {
        name: "ProbeService",
        method: [{ name: "WhoAmI", inputType: empty, outputType: empty, options }],
      },
    ],
  });
  const registry = createFileRegistry(file, (name) =>
    name === "google/protobuf/empty.proto" ? file_google_protobuf_empty : undefined,
  );
  const found = registry.getService("test.authority.ProbeService");
  if (found === undefined) throw new Error("the probe has no service");
  return found;
}

/**
 * A slice whose only method tells the search, and nobody else, as whom a call was let through and with which permissions:
 * every interceptor has judged it as it judges all calls.
 */
export function probeModule(): { module: Module; told: () => Scope | undefined } {
  let last: Scope | undefined;
  const whoAmI = async (_: unknown, scope: Scope) => {
    last = scope;
    return create(EmptySchema);
  };
  return {
    module: {
      events: [],
      projections: [],
      services: () => [{ service, handlers: { whoAmI }, authorize: {} }],
    },
    told() {
      const scope = last;
      last = undefined;
      return scope;
    },
  };
}
