import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { startServer } from "../faults/server.ts";
import { newStore, token } from "../faults/store.ts";

/** One request of a test of what parsing costs, and how it is answered. */
export type Sent = {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
};

export type HeldService = {
  url: string;
  send(sent: Sent): Promise<{ status: number; text: string; headers: Headers }>;
  /** Does something as the owner, and gives what it answers. */
  make(path: string, body: object): Promise<JsonObject>;
};

const rounds = 3;

export const json = { "content-type": "application/json" };
export const form = { "content-type": "application/x-www-form-urlencoded" };
export const owner = { ...json, authorization: `Bearer ${token}` };

/**
 * Tests what each of many requests costs the service, as processor time (J17): the service is a process of its own,
 * and what counts is what its main thread has had of the processor, however busy the machine is.
 */
export async function heldService(): Promise<{
  service: HeldService;
  /** `expected` is found in the answer: what was to be measured has been reached. */
  costs(what: string, mostMs: number, make: () => Sent, expected: RegExp): void;
}> {
  const store = await newStore();
  const { place } = store;
  const env = {
    ...place.env,
    IDSVC_EXTERNAL_URL: `http://localhost:${place.port}`,
    IDSVC_BUDGET_FLOWS: "0",
    IDSVC_BUDGET_GUESSES: "0",
    IDSVC_BUDGET_UNAUTHENTICATED: "0",
  };
  const { url, pid, stop } = await startServer({ ...place, env });
  after(async () => {
    await stop();
    await store[Symbol.asyncDispose]();
  });

  const service: HeldService = {
    url,
    async send({ path, headers = {}, body, method = body === undefined ? "GET" : "POST" }) {
      const sent = body === undefined ? {} : { body };
      const answer = await fetch(`${url}${path}`, { method, headers, redirect: "manual", ...sent });
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    },
    async make(path, body) {
      const sent = {
        path: `/resources/v3alpha${path}`,
        headers: owner,
        body: JSON.stringify(body),
      };
      const { status, text } = await service.send(sent);
      assert.ok(status < 300, text);
      return JSON.parse(text);
    },
  };

  // The first requests load what they need.
  for (let round = 0; round < rounds; round += 1) {
    await service.send({ path: "/ui/login" });
    await service.send({ path: "/resources/v3alpha/users/_search", headers: owner, body: "[1]" });
    await service.send({ path: "/oauth/v2/token", headers: form, body: "a=b" });
  }

  const usedMs = (): number =>
    Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

  return {
    service,
    costs(what, mostMs, make, expected) {
      it(`takes at most ${mostMs} ms of the processor: ${what}`, async () => {
        // One of a few is within it: the first one may load something, and the service does other things besides.
        let best = Infinity;
        for (let round = 0; round < rounds && best > mostMs; round += 1) {
          const sent = make();
          const began = usedMs();
          const { status, text } = await service.send(sent);
          best = Math.min(best, usedMs() - began);
          assert.match(`${status} ${text}`, expected);
        }
        assert.ok(best <= mostMs, `${best} ms`);
      });
    },
  };
}

/** A piece again and again, up to a length, between a head and a tail. */
export const filledTo = (length: number, piece: string, [head, tail] = ["", ""]): string =>
  head + piece.repeat(Math.floor((length - head.length - tail.length) / piece.length)) + tail;

export const nested = (length: number, open: string, close: string, inner = "1"): string => {
  const deep = Math.floor((length - inner.length) / (open.length + close.length));
  return open.repeat(deep) + inner + close.repeat(deep);
};

/** As many items of a list as fit, each another one. */
export const listed = (length: number, item: (at: number) => string): string => {
  const count = Math.floor(length / (item(1_000_000).length + 1));
  return Array.from({ length: count }, (_, at) => item(1_000_000 + at)).join(",");
};

/** JSON that is much work for its length. */
export const hostileJson = (length: number): Record<string, string> => ({
  "nested lists": nested(length, "[", "]"),
  "nested objects": nested(length, '{"a":', "}"),
  "many members": `{${listed(length, (at) => `"p${at}":1`)}}`,
  "many numbers": `[${listed(length, () => "1")}]`,
  "one name again and again": `{${filledTo(length, '"a":1,')}"a":1}`,
  escapes: `"${filledTo(length, "\\u0301")}"`,
  digits: filledTo(length, "9"),
  blanks: filledTo(length, " ", ["", "1"]),
});

export const base64url = (text: string | Uint8Array): string =>
  Buffer.from(text).toString("base64url");
export const encoded = (fields: Record<string, string>): string =>
  new URLSearchParams(fields).toString();
