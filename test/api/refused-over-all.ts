import assert from "node:assert/strict";
import { type DescMethod, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { type CallOptions, type Peer, type Protocol } from "../support/protocols.ts";
import type { Refusal } from "../support/refusal.ts";

const httpStatuses: Readonly<Record<number, number>> = { 3: 400, 5: 404, 7: 403, 9: 400, 16: 401 };
const showsHttpStatus: ReadonlySet<Protocol> = new Set(["rest", "connect-json", "connect-proto"]);

/** Makes a call over each of the protocols: the refusals may differ in nothing, so one stands for all. */
export async function refusedOverAll(
  peer: Peer,
  method: DescMethod,
  request: JsonObject,
  options: CallOptions,
  over: readonly Protocol[],
): Promise<Refusal> {
  const sent = fromJson(method.input, request);
  const told = new Map<Protocol, Refusal>();
  const each = over.map(async (protocol) => {
    const outcome = await peer.call(protocol, method, sent, options);
    assert.ok(!outcome.ok, `${protocol} should refuse`);
    told.set(protocol, outcome);
    if (showsHttpStatus.has(protocol)) {
      assert.equal(outcome.httpStatus, httpStatuses[outcome.code], `HTTP status of ${protocol}`);
    }
  });
  await Promise.all(each);
  const facts = ({ code, message, reason, details }: Refusal) => ({
    code,
    message,
    reason,
    details,
  });
  const [[firstBy, first] = []] = told;
  assert.ok(first);
  for (const [protocol, refusal] of told) {
    assert.deepEqual(facts(refusal), facts(first), `${protocol} and ${firstBy}`);
  }
  return first;
}
