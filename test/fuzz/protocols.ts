import assert from "node:assert/strict";
import {
  type DescMethod,
  fromJson,
  type JsonObject,
  type Message,
  toJsonString,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { noticesSent } from "../support/notices.ts";
import type { OidcPeer } from "../support/oidc.ts";
import { type Outcome, pathOf, protocols, restPlaceOf, restRequest } from "../support/protocols.ts";
import { messageJson } from "./messages.ts";
import { requireCleanPrototypes } from "./oracle.ts";
import { leftOut, methodsOf, mostly, type Target } from "./target.ts";

/** What a caller learns, whatever brought it. */
function learned(method: DescMethod, outcome: Outcome): string {
  if (outcome.ok) return toJsonString(method.output, outcome.message);
  const { code, reason, message, violations, metadata } = outcome;
  return JSON.stringify({ code, reason, message, violations, metadata });
}

const reads = /^(?:Get|Search|List)/;

function messageOf(method: DescMethod, json: JsonObject): Message | undefined {
  try {
    return fromJson(method.input, json);
  } catch {
    return undefined;
  }
}

// A variable of a path that is empty names another path; one that is too long is refused before anybody reads it; and no
// query says that there is a message with nothing in it.
const isPath = (method: DescMethod, message: Message) =>
  restRequest(method, message, {}).path.length < 8_000 &&
  !toJsonString(method.input, message).includes(":{}") &&
  [...restPlaceOf(method).template.matchAll(/\{(\w+)\}/g)].every(([, name]) => {
    const field = method.input.fields.find((each) => each.name === name);
    return field !== undefined && Reflect.get(message, field.localName) !== "";
  });

async function compare(peer: OidcPeer, method: DescMethod, message: Message, isKnown: boolean) {
  const options = isKnown ? { token: peer.app.token } : {};
  const call = (protocol: (typeof protocols)[number]) =>
    peer.peer.call(protocol, method, message, options);
  await noticesSent(peer.app);
  const before = await peer.eventCount();
  const [one, ...others] = protocols;
  const first = await call(one);
  // What was done once cannot be done again.
  if (first.ok && !reads.test(method.name)) return;
  for (const other of others) {
    if (other === "rest" && !isPath(method, message)) continue;
    assert.equal(learned(method, await call(other)), learned(method, first), other);
  }
  assert.equal(await peer.eventCount(), before, "a refusal or a read wrote");
}

/** One message over every protocol: the same answer, or the same refusal, which leaves no event behind. */
export const protocolsAgree: Target = {
  name: "protocols",
  property: (peer) => {
    const methods = methodsOf(peer).filter(({ name }) => !leftOut.has(name));
    const asked = fc.constantFrom(...methods).chain((method) =>
      fc.tuple(fc.constant(method), messageJson(method.input), mostly).map(([, json, isKnown]) => ({
        method,
        json,
        isKnown,
        [fc.toStringMethod]: () => `${pathOf(method)} ${isKnown} ${JSON.stringify(json)}`,
      })),
    );
    return fc.asyncProperty(asked, async ({ method, json, isKnown }) => {
      const message = messageOf(method, json);
      // What JSON may not name at all, binary messages can; half of a pair is no text of theirs.
      if (message === undefined || /__proto__|\\ud/.test(JSON.stringify(json))) return;
      await compare(peer, method, message, isKnown);
      requireCleanPrototypes();
    });
  },
};
