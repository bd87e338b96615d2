import type { Message } from "@bufbuild/protobuf";
import { newRequestId } from "../telemetry/request-id.ts";
import { type Call, type Incoming, leave, newCall } from "./call.ts";
import type { Exchange } from "./exchange.ts";
import type { MethodRule } from "./method-rule.ts";

/** One method with its interceptors and its handler: what every protocol calls. */
export type Endpoint = { rule: MethodRule; invoke: (call: Call) => Promise<Message> };

/** Runs one call of an exchange; gives the answer and what the handler said about it. */
export async function callEndpoint(
  endpoint: Endpoint,
  exchange: Exchange,
  how: Pick<Incoming, "protocol" | "decode" | "timeoutMs">,
): Promise<{ message: Message; answer: Call["answer"] }> {
  const call = newCall(endpoint.rule, {
    ...how,
    headers: exchange.headers,
    host: exchange.host,
    scheme: exchange.scheme,
    peer: exchange.peer,
    requestId: newRequestId(),
  });
  exchange.onGone(() => leave(call));
  const message = await endpoint.invoke(call);
  return { message, answer: call.answer };
}
