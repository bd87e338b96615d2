import { fromJson } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { callUnaryMethod } from "@connectrpc/connect-query";
import { AuthService } from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { transport } from "../calls.ts";
import type { ServicePort } from "../ports.ts";
import { contextOf } from "./declare.ts";
import { toMe } from "./reader.ts";

const watching = EventService.method.watchEvents;

/** What the console asks on every page, as the services of what callers may do and of events answer it. */
export const servicePort: ServicePort = {
  async me(limit, signal) {
    const method = AuthService.method.getMyPermissions;
    return toMe(await callUnaryMethod(transport, method, { limit }, optionsOf(signal)));
  },
  find: (q, signal) =>
    callUnaryMethod(transport, AuthService.method.searchAll, { q }, optionsOf(signal)),
  log: {
    method: watching,
    async *follow({ types, org }, { signal, opened }) {
      const filters = types.length === 0 ? [] : [{ types: { types: [...types] } }];
      const request = fromJson(watching.input, { ...contextOf(org), filters });
      const client = createClient(EventService, transport);
      for await (const { event } of client.watchEvents(request, { signal, onHeader: opened })) {
        yield { isEvent: event !== undefined };
      }
    },
  },
};

const optionsOf = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });
