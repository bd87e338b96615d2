// The least code on node:http2 that answers GetTarget over gRPC.
import http2 from "node:http2";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  GetTargetRequestSchema,
  GetTargetResponseSchema,
} from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { framed } from "../../support/wire.ts";
import { host, port } from "./place.ts";
import { sampleTarget } from "./sample.ts";

const head = { ":status": 200, "content-type": "application/grpc+proto" };
const trailers = { "grpc-status": "0" };

const server = http2.createServer({
  settings: { maxConcurrentStreams: 256, initialWindowSize: 1 << 20 },
});
server.on("stream", (stream) => {
  const chunks: Buffer[] = [];
  stream.on("error", () => {});
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("end", () => {
    const [only] = chunks;
    const body = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
    const { id } = fromBinary(GetTargetRequestSchema, body.subarray(5));
    const answer = create(GetTargetResponseSchema, { target: sampleTarget(id) });
    stream.respond(head, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end(framed(toBinary(GetTargetResponseSchema, answer)));
  });
});
server.listen(port, host);
