import { BlockList, isIP } from "node:net";
import type { CallHeaders } from "./call.ts";

/** Where a request came from and what it was sent to, as far as it can be believed. */
export type Origin = { host: string; scheme: "http" | "https"; peer: string };

export type ResolveOrigin = (seen: Origin, headers: CallHeaders) => Origin;

/**
 * Believes `Forwarded` (RFC 7239) and `X-Forwarded-*` of trusted proxies, and of nobody else (decisions B1). The
 * standard header wins; of several hops the one next to us counts, since it is the one that we trust.
 */
export function resolveOrigin(trusted: readonly BlockList[]): ResolveOrigin {
  if (trusted.length === 0) return (seen) => seen;
  const isTrusted = (address: string) => {
    const family = isIP(address);
    return (
      family !== 0 && trusted.some((list) => list.check(address, family === 6 ? "ipv6" : "ipv4"))
    );
  };
  return (seen, headers) => {
    if (!isTrusted(seen.peer)) return seen;
    const said = forwarded(headers.get("forwarded")) ?? {
      host: last(headers.get("x-forwarded-host")),
      proto: last(headers.get("x-forwarded-proto")),
      for: last(headers.get("x-forwarded-for")),
    };
    return {
      host: said.host ?? seen.host,
      scheme: said.proto === "https" || said.proto === "http" ? said.proto : seen.scheme,
      peer: said.for ?? seen.peer,
    };
  };
}

const last = (list: string | undefined): string | undefined => {
  const value = list?.split(",").at(-1)?.trim();
  return value === "" ? undefined : value;
};

type Said = { host: string | undefined; proto: string | undefined; for: string | undefined };

function forwarded(header: string | undefined): Said | undefined {
  const hop = last(header);
  if (hop === undefined) return undefined;
  const pairs = new Map(
    hop.split(";").map((pair): [string, string] => {
      const [name = "", value = ""] = pair.split("=", 2);
      return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
    }),
  );
  return {
    host: pairs.get("host"),
    proto: pairs.get("proto")?.toLowerCase(),
    for: pairs.get("for"),
  };
}
