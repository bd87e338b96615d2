import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { domainToASCII } from "node:url";
import { endOf } from "./deadline.ts";
import { EgressError, systemCode } from "./error.ts";
import type { NameResolver } from "./resolver.ts";
import { type EgressAllow, isAddressAllowed } from "./url-guard.ts";

/** What every outgoing connection is judged by. */
export type Guard = {
  allow: EgressAllow;
  resolver: NameResolver;
  /** Certificates (PEM) of the authorities that are trusted; absent: those that Node trusts. */
  ca?: string[] | undefined;
};

/** Where to connect. `protocols` are offered in ALPN. */
export type Peer = { host: string; port: number; tls: boolean; protocols?: string[] };

// A name may have many addresses; one that does not answer shall not use up the call's time.
const mostAddresses = 4;
const attemptMs = 1_000;

/**
 * A connection that the guard allows, ready to be written to: with TLS, the certificate is proven to be the host's.
 *
 * The name is resolved once, and only addresses that were judged are connected to: a name that answers differently the
 * next time (rebinding) gains nothing. The signal ends the attempt; the open connection is the caller's.
 *
 * @throws EgressError denied, dns, connect, tls, and the reason of the signal
 */
export async function connectGuarded(
  peer: Peer,
  guard: Guard,
  signal: AbortSignal,
): Promise<Socket> {
  const host = canonicalHost(peer.host);
  const allowed = (address: string) => isAddressAllowed(address, peer.port, guard.allow, host);
  const addresses = isIP(host) ? [host] : await guard.resolver.addresses(host, signal);
  const candidates = addresses.filter(allowed).slice(0, mostAddresses);
  if (candidates.length === 0) throw new EgressError("denied", peer.host, "address");

  let failure = "";
  for (const [at, address] of candidates.entries()) {
    const isLast = at === candidates.length - 1;
    const socket = connect({ host: address, port: peer.port, noDelay: true });
    // Errors between two steps concern a socket that is destroyed anyway.
    socket.on("error", () => {});
    try {
      await opened(socket, "connect", signal, isLast ? undefined : attemptMs);
    } catch (error) {
      socket.destroy();
      if (signal.aborted) throw endOf(signal);
      failure = systemCode(error);
      continue;
    }
    if (!allowed(socket.remoteAddress ?? "")) {
      socket.destroy();
      throw new EgressError("denied", peer.host, "address");
    }
    return peer.tls ? secured(socket, host, peer, guard, signal) : socket;
  }
  throw new EgressError("connect", peer.host, failure);
}

async function secured(
  socket: Socket,
  host: string,
  peer: Peer,
  guard: Guard,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const secure = connectTls({
    socket,
    host,
    ...(isIP(host) ? {} : { servername: host }),
    ...(peer.protocols ? { ALPNProtocols: peer.protocols } : {}),
    ...(guard.ca ? { ca: guard.ca } : {}),
    minVersion: "TLSv1.2",
    // Said here so that no environment variable can say otherwise.
    rejectUnauthorized: true,
  });
  secure.on("error", () => {});
  try {
    await opened(secure, "secureConnect", signal);
    return secure;
  } catch (error) {
    secure.destroy();
    socket.destroy();
    if (signal.aborted) throw endOf(signal);
    throw new EgressError("tls", peer.host, systemCode(error));
  }
}

function opened(
  socket: Socket,
  event: "connect" | "secureConnect",
  signal: AbortSignal,
  timeoutMs?: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => settle(() => reject(coded("ETIMEDOUT"))), timeoutMs);
    const settle = (outcome: () => void) => {
      clearTimeout(timer);
      socket.off(event, onOpen).off("error", onError).off("close", onClose);
      signal.removeEventListener("abort", onAbort);
      outcome();
    };
    const onOpen = () => settle(resolve);
    const onError = (error: Error) => settle(() => reject(error));
    const onClose = () => settle(() => reject(coded("ECONNRESET")));
    const onAbort = () => settle(() => reject(endOf(signal)));
    if (signal.aborted) return onAbort();
    socket.on(event, onOpen).on("error", onError).on("close", onClose);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

const coded = (code: string) => Object.assign(new Error(code), { code });

/** The host as names are compared: lower case, no dot at the end, odd notations of addresses in the usual one. */
function canonicalHost(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare)) return bare;
  const ascii = domainToASCII(bare).replace(/\.$/, "");
  if (ascii === "") throw new EgressError("dns", host, "EBADNAME");
  return ascii;
}
