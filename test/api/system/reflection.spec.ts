// Run: shared
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import {
  create,
  createFileRegistry,
  fromBinary,
  getOption,
  type Message,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { http } from "#gen/google/api/annotations_pb.ts";
import { Health } from "#gen/grpc/health/v1/health_pb.ts";
import * as v1 from "#gen/grpc/reflection/v1/reflection_pb.ts";
import * as v1alpha from "#gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { registerHealth } from "../../../src/api/system/health.ts";
import { createReadiness } from "../../../src/api/system/readiness.ts";
import { registerReflection } from "../../../src/api/system/reflection.ts";
import { codecOf, type RouterServer, serveRouter } from "./router-server.ts";

const action = "idsvc.resources.action.v3alpha";
const actionFile = "idsvc/resources/action/v3alpha/action_service.proto";

const serve = () =>
  serveRouter((router) => {
    registerReflection(router, [Health, ActionService]);
    registerHealth(router, createReadiness(), []);
  });

type Question = NonNullable<
  MessageInitShape<typeof v1.ServerReflectionRequestSchema>["messageRequest"]
>;
type Response = v1.ServerReflectionResponse | v1alpha.ServerReflectionResponse;
type Answer = Response["messageResponse"];

const versions = {
  v1: {
    method: v1.ServerReflection.method.serverReflectionInfo,
    request: (messageRequest: Question): Message =>
      create(v1.ServerReflectionRequestSchema, { host: "here", messageRequest }),
    read: (bytes: Buffer): Response => fromBinary(v1.ServerReflectionResponseSchema, bytes),
  },
  v1alpha: {
    method: v1alpha.ServerReflection.method.serverReflectionInfo,
    // Both versions have the same bytes.
    request: (messageRequest: Question): Message =>
      fromBinary(
        v1alpha.ServerReflectionRequestSchema,
        toBinary(
          v1.ServerReflectionRequestSchema,
          create(v1.ServerReflectionRequestSchema, { host: "here", messageRequest }),
        ),
      ),
    read: (bytes: Buffer): Response => fromBinary(v1alpha.ServerReflectionResponseSchema, bytes),
  },
};
type Version = keyof typeof versions;

/** Asks in one stream, the next question after the answer to the last. */
async function converse(server: RouterServer, version: Version, questions: Question[]) {
  const { method, request, read } = versions[version];
  const { path, write } = codecOf(method);
  const stream = server.client.makeBidiStreamRequest(path, write, read);
  const responses: Response[] = [];
  const left = questions.map((question) => request(question));
  const askNext = () => {
    const next = left.shift();
    if (next) stream.write(next);
    else stream.end();
  };
  askNext();
  for await (const response of stream) {
    responses.push(response);
    askNext();
  }
  return responses;
}

async function ask(question: Question, version: Version = "v1"): Promise<Answer> {
  await using server = await serve();
  const [response] = await converse(server, version, [question]);
  assert.ok(response);
  return response.messageResponse;
}

function filesOf(answer: Answer): FileDescriptorProto[] {
  assert.equal(answer.case, "fileDescriptorResponse", JSON.stringify(answer.value));
  return answer.value.fileDescriptorProto.map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  );
}

function dependenciesFirst(files: FileDescriptorProto[]): FileDescriptorProto[] {
  const ordered: FileDescriptorProto[] = [];
  const visit = (file: FileDescriptorProto) => {
    for (const one of files) if (file.dependency.includes(one.name)) visit(one);
    if (!ordered.includes(file)) ordered.push(file);
  };
  files.forEach(visit);
  return ordered;
}

function assertRefused(answer: Answer, code: number): void {
  assert.equal(answer.case, "errorResponse");
  assert.equal(answer.value.errorCode, code);
  assert.notEqual(answer.value.errorMessage, "");
}

for (const version of ["v1", "v1alpha"] as const) {
  describe(`server reflection ${version}`, () => {
    it("lists the services, and itself", async () => {
      const answer = await ask({ case: "listServices", value: "*" }, version);
      assert.equal(answer.case, "listServicesResponse");
      assert.deepEqual(
        answer.value.service.map(({ name }) => name),
        [
          "grpc.health.v1.Health",
          "grpc.reflection.v1.ServerReflection",
          "grpc.reflection.v1alpha.ServerReflection",
          `${action}.ActionService`,
        ],
      );
    });
    it("gives a file by its name, first, with all it depends on", async () => {
      const files = filesOf(await ask({ case: "fileByFilename", value: actionFile }, version));
      assert.equal(files[0]?.name, actionFile);
      const names = files.map(({ name }) => name);
      assert.equal(new Set(names).size, names.length);
      const missing = files.flatMap((file) =>
        file.dependency.filter((one) => !names.includes(one)),
      );
      assert.deepEqual(missing, []);
      for (const needed of ["google/api/http.proto", "buf/validate/validate.proto"]) {
        assert.ok(names.includes(needed), needed);
      }
      assert.ok(names.includes("google/protobuf/descriptor.proto"));
    });
    it("repeats the host and the question", async () => {
      await using server = await serve();
      const value = "nowhere.proto";
      const [response] = await converse(server, version, [{ case: "fileByFilename", value }]);
      assert.equal(response?.validHost, "here");
      assert.equal(response.originalRequest?.messageRequest.value, value);
    });
    it("answers what it does not have with code 5, and goes on", async () => {
      await using server = await serve();
      const containingType = "google.protobuf.MethodOptions";
      const responses = await converse(server, version, [
        { case: "fileByFilename", value: "nowhere.proto" },
        { case: "fileContainingSymbol", value: "idsvc.Nothing" },
        { case: "fileContainingExtension", value: { containingType, extensionNumber: 1 } },
        { case: "fileContainingExtension", value: { containingType: "x", extensionNumber: 1 } },
        { case: "allExtensionNumbersOfType", value: "idsvc.Nothing" },
        { case: "fileContainingSymbol", value: `${action}.ActionService` },
      ]);
      for (const { messageResponse } of responses.slice(0, 5)) assertRefused(messageResponse, 5);
      assert.equal(responses[5]?.messageResponse.case, "fileDescriptorResponse");
    });
    it("answers a request without a question with code 3", async () =>
      assertRefused(await ask({ case: undefined }, version), 3));
  });
}

describe("the file that contains a symbol", () => {
  const symbols = {
    [`${action}.ActionService`]: actionFile,
    [`.${action}.ActionService`]: actionFile,
    [`${action}.ActionService.PutExecution`]: actionFile,
    [`${action}.Target`]: "idsvc/resources/action/v3alpha/target.proto",
    [`${action}.Target.timeout`]: "idsvc/resources/action/v3alpha/target.proto",
    [`${action}.Target.target_type`]: "idsvc/resources/action/v3alpha/target.proto",
    [`${action}.TargetFieldName`]: "idsvc/resources/action/v3alpha/query.proto",
    [`${action}.TARGET_FIELD_NAME_ID`]: "idsvc/resources/action/v3alpha/query.proto",
    "grpc.health.v1.HealthCheckResponse.ServingStatus": "grpc/health/v1/health.proto",
    "grpc.health.v1.HealthCheckResponse.SERVING": "grpc/health/v1/health.proto",
    "google.protobuf.FileOptions.OptimizeMode": "google/protobuf/descriptor.proto",
    "google.protobuf.DescriptorProto.ExtensionRange": "google/protobuf/descriptor.proto",
    "google.api.http": "google/api/annotations.proto",
    "idsvc.options.v1.display_name": "idsvc/options/v1/options.proto",
    "grpc.reflection.v1.ServerReflection": "grpc/reflection/v1/reflection.proto",
  };
  for (const [symbol, file] of Object.entries(symbols)) {
    it(`is ${file} for ${symbol}`, async () => {
      const answer = await ask({ case: "fileContainingSymbol", value: symbol });
      assert.equal(filesOf(answer)[0]?.name, file);
    });
  }
  it("is found for the details of errors, which no method names", async () => {
    const answer = await ask({ case: "fileContainingSymbol", value: "google.rpc.ErrorInfo" });
    assert.equal(filesOf(answer)[0]?.name, "google/rpc/error_details.proto");
  });
});

describe("extensions in reflection", () => {
  it("are found by the message they extend and their number", async () => {
    const value = { containingType: "google.protobuf.MethodOptions", extensionNumber: 72295728 };
    const answer = await ask({ case: "fileContainingExtension", value });
    assert.equal(filesOf(answer)[0]?.name, "google/api/annotations.proto");
  });
  it("are listed by the message they extend", async () => {
    const value = "google.protobuf.MethodOptions";
    const answer = await ask({ case: "allExtensionNumbersOfType", value });
    assert.equal(answer.case, "allExtensionNumbersResponse");
    assert.equal(answer.value.baseTypeName, value);
    assert.deepEqual(new Set(answer.value.extensionNumber), new Set([50501, 72295728]));
  });
  it("are none for a message that nothing extends", async () => {
    const answer = await ask({ case: "allExtensionNumbersOfType", value: `${action}.Target` });
    assert.equal(answer.case, "allExtensionNumbersResponse");
    assert.deepEqual(answer.value.extensionNumber, []);
  });
});

describe("reflected files", () => {
  it("build the schema of the server again, options included", async () => {
    const files = filesOf(await ask({ case: "fileByFilename", value: actionFile }));
    const set = create(FileDescriptorSetSchema, { file: dependenciesFirst(files) });
    const registry = createFileRegistry(set);
    const method = registry.getService(ActionService.typeName)?.method["patchTarget"];
    assert.ok(method);
    assert.deepEqual(getOption(method, http).pattern, {
      case: "patch",
      value: "/resources/v3alpha/targets/{id}",
    });
    const id = method.input.field["id"];
    assert.equal(id && getOption(id, fieldRules).required, true);
  });
  it("come once a stream, unless they are asked for", async () => {
    await using server = await serve();
    const [first, second, third] = await converse(server, "v1", [
      { case: "fileByFilename", value: actionFile },
      { case: "fileContainingSymbol", value: `${action}.Target` },
      { case: "fileByFilename", value: actionFile },
    ]);
    assert.ok(first && second && third);
    assert.ok(filesOf(first.messageResponse).length > 5);
    assert.deepEqual(
      filesOf(second.messageResponse).map(({ name }) => name),
      ["idsvc/resources/action/v3alpha/target.proto"],
    );
    assert.deepEqual(
      filesOf(third.messageResponse).map(({ name }) => name),
      [actionFile],
    );
  });
});

describe("buf curl, which knows nothing but reflection", () => {
  const { resolve } = createRequire(import.meta.url);
  const buf = join(dirname(resolve("@bufbuild/buf-linux-x64/package.json")), "bin/buf");
  const cache = mkdtempSync(join(tmpdir(), "reflection-"));
  after(() => rmSync(cache, { recursive: true, force: true }));

  async function curl(...args: string[]): Promise<string> {
    await using server = await serve();
    const [path = "", ...flags] = args;
    const { stdout } = await promisify(execFile)(
      buf,
      ["curl", "--http2-prior-knowledge", ...flags, `http://${server.address}${path}`],
      { env: { ...process.env, BUF_CACHE_DIR: cache } },
    );
    return stdout.trim();
  }
  for (const version of ["v1", "v1alpha"]) {
    const reflect = ["--protocol", "grpc", "--reflect-protocol", `grpc-${version}`];
    it(`lists the services by ${version}`, async () => {
      const listed = (await curl("", ...reflect, "--list-services")).split("\n");
      assert.ok(listed.includes(`${action}.ActionService`));
      assert.ok(listed.includes("grpc.health.v1.Health"));
    });
    it(`lists the methods by ${version}`, async () => {
      const listed = (await curl("", ...reflect, "--list-methods")).split("\n");
      assert.equal(listed.filter((name) => name.startsWith(`${action}.ActionService/`)).length, 11);
      assert.ok(listed.includes(`${action}.ActionService/PutExecution`));
    });
  }
  for (const protocol of ["grpc", "grpcweb", "connect"]) {
    it(`calls a method over ${protocol}`, async () => {
      const path = "/grpc.health.v1.Health/Check";
      const answer = await curl(path, "--protocol", protocol, "--data", "{}");
      assert.deepEqual(JSON.parse(answer), { status: "NOT_SERVING" });
    });
  }
});
