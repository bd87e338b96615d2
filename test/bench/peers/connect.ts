// A bare connect-node server: `connect.ts <h2 | http1> [validated]`.
import http from "node:http";
import http2 from "node:http2";
import { createRegistry } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { file_idsvc_options_v1_options } from "#gen/idsvc/options/v1/options_pb.ts";
import { host, port } from "./place.ts";
import { sampleDetails, sampleTarget } from "./sample.ts";

const [version, validated] = process.argv.slice(2);

function validating(): Interceptor {
  const validator = createValidator({ registry: createRegistry(file_idsvc_options_v1_options) });
  return (next) => (request) => {
    if (!request.stream) {
      const { kind } = validator.validate(request.method.input, request.message);
      if (kind !== "valid") throw new ConnectError("not valid", Code.InvalidArgument);
    }
    return next(request);
  };
}

const handle = connectNodeAdapter({
  interceptors: validated === undefined ? [] : [validating()],
  routes: (router) =>
    router.service(ActionService, {
      getTarget: ({ id }) => ({ target: sampleTarget(id) }),
      patchTarget: ({ id }) => ({ details: sampleDetails(id) }),
    }),
  fallback: (_, response) => void response.end("ready"),
});
if (version === "h2") http2.createServer(handle).listen(port, host);
else http.createServer(handle).listen(port, host);
