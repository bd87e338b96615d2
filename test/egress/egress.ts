import assert from "node:assert/strict";
import { createEgressClient, type HttpCall } from "../../src/egress/client.ts";
import { EgressError, type EgressFailure } from "../../src/egress/error.ts";
import type { NameResolver } from "../../src/egress/resolver.ts";
import { parseEgressAllow } from "../../src/egress/url-guard.ts";

/** A resolver by hand: each lookup of a name takes its next answer, the last one for ever. */
export function names(answers: Record<string, string[][]>) {
  const lookups: string[] = [];
  const resolver: NameResolver = {
    async addresses(name) {
      const left = answers[name] ?? [];
      lookups.push(name);
      const [next] = left.length > 1 ? left.splice(0, 1) : left;
      if (next === undefined) throw new EgressError("dns", name, "ENOTFOUND");
      return next;
    },
    texts: async () => [],
  };
  return { resolver, lookups };
}

export const client = (
  allow: string[],
  resolver: NameResolver = names({}).resolver,
  ca?: string[],
) => createEgressClient({ allow: parseEgressAllow(allow), resolver, ca, userAgent: "idsvc/test" });

export const get = (url: string, more: Partial<HttpCall> = {}): HttpCall => ({
  method: "GET",
  url,
  timeoutMs: 5_000,
  ...more,
});

export const fails = (promise: Promise<unknown>, failure: EgressFailure, detail?: string) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof EgressError, String(error));
    assert.equal(error.failure, failure, `${error.message} ${error.detail}`);
    assert.equal(error.reason, `EGRESS_${failure.toUpperCase()}`);
    if (detail !== undefined) assert.equal(error.detail, detail);
    return true;
  });
