import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import {
  ActionService,
  type GetTargetRequest,
  GetTargetRequestSchema,
  type GetTargetResponse,
  GetTargetResponseSchema,
} from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { host, port } from "./place.ts";
import { sampleTarget } from "./sample.ts";

const definition: ServiceDefinition = {
  getTarget: {
    path: `/${ActionService.typeName}/GetTarget`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (message: GetTargetRequest) =>
      Buffer.from(toBinary(GetTargetRequestSchema, message)),
    requestDeserialize: (bytes: Buffer) => fromBinary(GetTargetRequestSchema, bytes),
    responseSerialize: (message: GetTargetResponse) =>
      Buffer.from(toBinary(GetTargetResponseSchema, message)),
    responseDeserialize: (bytes: Buffer) => fromBinary(GetTargetResponseSchema, bytes),
  },
};

const server = new Server();
server.addService(definition, {
  getTarget(
    call: { request: GetTargetRequest },
    answer: (error: null, message: GetTargetResponse) => void,
  ) {
    answer(null, create(GetTargetResponseSchema, { target: sampleTarget(call.request.id) }));
  },
});
server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
