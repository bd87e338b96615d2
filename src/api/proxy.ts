import { BlockList, isIP } from "node:net";
import { isNearby, sourceOf } from "../authz/source.ts";
import type { CallHeaders } from "./call.ts";

/** Where a request came from and what it was sent to, as far as it can be believed. */
export type Origin = {
  host: string;
  scheme: "http" | "https";
  peer: string;
  /** Where a trusted proxy has handed it on. */
  isProxied?: true;
};

export type ResolveOrigin = (seen: Origin, headers: CallHeaders) => Origin;

/** Which headers the trusted proxies write. */
export type ProxyHeaders = "x-forwarded" | "forwarded";

/**
 * Believes what trusted proxies say, and nobody else (B1). Only the headers that they write count: a client may send
 * the other kind, and the proxy hands it on. With `x-forwarded`, `Forwarded` (RFC 7239) counts where none of the others is there.
 * Of several hops the nearest counts; of addresses, the nearest that is no trusted proxy.
 *
 * @param suspect told of addresses in private networks which send these headers although they are no trusted proxies
 */
export function resolveOrigin(
  trusted: readonly BlockList[],
  written: ProxyHeaders = "x-forwarded",
  suspect: (address: string) => void = () => {},
): ResolveOrigin {
  const isTrusted = trustedIn(trusted);
  return (seen, headers) => {
    if (trusted.length === 0 || !isTrusted(seen.peer)) {
      if (saysForWhom(headers)) {
        const source = sourceOf(seen.peer);
        if (isNearby(source)) suspect(source.endsWith("/64") ? seen.peer : source);
      }
      return seen;
    }
    const older = written === "x-forwarded" ? xForwarded(headers) : undefined;
    const hops = older ?? forwarded(headers.get("forwarded"));
    const { host, proto } = hops.at(-1) ?? {};
    const client = hops.toReversed().find(({ for: address }) => !isTrusted(address ?? ""))?.for;
    return {
      host: host ?? seen.host,
      scheme: proto === "https" || proto === "http" ? proto : seen.scheme,
      peer: client ?? seen.peer,
      isProxied: true,
    };
  };
}

const saysForWhom = (headers: CallHeaders): boolean =>
  headers.get("x-forwarded-for") !== undefined || headers.get("forwarded") !== undefined;

/** Whether an address is in one of these networks. */
export const trustedIn =
  (networks: readonly BlockList[]) =>
  (address: string): boolean => {
    const family = isIP(address);
    return (
      family !== 0 && networks.some((list) => list.check(address, family === 6 ? "ipv6" : "ipv4"))
    );
  };

type Hop = { host?: string | undefined; proto?: string | undefined; for?: string | undefined };

const split = (list: string | undefined): string[] =>
  list === undefined || list.trim() === "" ? [] : list.split(",").map((each) => each.trim());

function xForwarded(headers: CallHeaders): Hop[] | undefined {
  const addresses = split(headers.get("x-forwarded-for"));
  const host = split(headers.get("x-forwarded-host")).at(-1);
  const proto = split(headers.get("x-forwarded-proto")).at(-1);
  if (addresses.length === 0 && host === undefined && proto === undefined) return undefined;
  const nearest: Hop = { host, proto, for: addresses.at(-1) };
  return [...addresses.slice(0, -1).map((address) => ({ for: address })), nearest];
}

function forwarded(header: string | undefined): Hop[] {
  return split(header).map((hop) => {
    const pairs = new Map(
      hop.split(";").map((pair): [string, string] => {
        const [name = "", value = ""] = pair.split("=", 2);
        return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
      }),
    );
    return {
      host: pairs.get("host"),
      proto: pairs.get("proto")?.toLowerCase(),
      for: addressIn(pairs.get("for")),
    };
  });
}

/** The address of a node: an IPv6 address stands in brackets, and either may have a port (RFC 7239 section 6). */
const addressIn = (node: string | undefined): string | undefined =>
  node === undefined
    ? undefined
    : (/^\[([^\]]+)\]/.exec(node)?.[1] ?? /^([^:]+):\d+$/.exec(node)?.[1] ?? node);
