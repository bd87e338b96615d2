// The least code on node:http that answers GetTarget as JSON: of a Connect call, or of a path with the id.
import http from "node:http";
import { create, fromJsonString, toJsonString } from "@bufbuild/protobuf";
import {
  GetTargetRequestSchema,
  GetTargetResponseSchema,
} from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { host, port } from "./place.ts";
import { sampleTarget } from "./sample.ts";

function answer(response: http.ServerResponse, id: string): void {
  const message = create(GetTargetResponseSchema, { target: sampleTarget(id) });
  const json = toJsonString(GetTargetResponseSchema, message);
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(json),
  });
  response.end(json);
}

http
  .createServer((request, response) => {
    const { method, url = "" } = request;
    if (method === "GET") return answer(response, url.slice(url.lastIndexOf("/") + 1));
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      answer(response, fromJsonString(GetTargetRequestSchema, text).id);
    });
  })
  .listen(port, host);
