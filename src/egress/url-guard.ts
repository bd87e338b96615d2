import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";
import { type DomainError, invalidArgument, invalidField } from "../errors.ts";

/** What the service may connect to beside public addresses on ordinary ports; made by `parseEgressAllow`. */
export type EgressAllow = {
  readonly networks: readonly { readonly list: BlockList; readonly port: number | undefined }[];
  readonly hosts: readonly {
    readonly name: string;
    readonly subdomains: boolean;
    readonly port: number | undefined;
  }[];
  /** Ports below 1024 that count as ordinary, beside 80 and 443. */
  readonly ports: ReadonlySet<number>;
};

const setting = "IDSVC_EGRESS_ALLOW";
const loopback = ["127.0.0.0/8", "::1"];

/**
 * Reads the entries of IDSVC_EGRESS_ALLOW. They are exceptions from the deny list, not the only places allowed.
 *
 * | Entry | Allows |
 * |---|---|
 * | `10.0.0.7`, `10.0.0.0/8`, `fd00::/8` | these addresses, on 80, 443 and every port from 1024 |
 * | `10.0.0.0/8:25`, `[fd00::/8]:8443` | these addresses, on this port alone |
 * | `hooks.internal`, `*.internal` | this host, or every host below it, whatever address it has; ports as above |
 * | `hooks.internal:8443` | this host on this port alone |
 * | `*:587` | port 587 counts as ordinary, on all addresses that are allowed otherwise |
 *
 * @throws invalidArgument EGRESS_ENTRY_INVALID naming the entry.
 */
export function parseEgressAllow(entries: readonly string[]): EgressAllow {
  const nets: EgressAllow["networks"][number][] = [];
  const hosts: EgressAllow["hosts"][number][] = [];
  const ports = new Set<number>();
  for (const entry of entries) {
    const { subject, port } = splitPort(entry);
    const list = parseNetwork(subject);
    if (list) nets.push({ list, port });
    else if (subject === "*" && port !== undefined) ports.add(port);
    else hosts.push({ ...parseHost(subject, entry), port });
  }
  return { networks: nets, hosts, ports };
}

/** Whether loopback is allowed for want of a list: only where the service itself lives on localhost. */
export function allowsLoopbackByDefault(
  configured: readonly string[] | undefined,
  externalUrl: string,
): boolean {
  return configured === undefined && new URL(externalUrl).hostname === "localhost";
}

/** The list in force. A configured one, even an empty one, is the whole list; nothing is added to it. */
export function egressAllowInForce(
  configured: readonly string[] | undefined,
  externalUrl: string,
): EgressAllow {
  const byDefault = allowsLoopbackByDefault(configured, externalUrl) ? loopback : [];
  return parseEgressAllow(configured ?? byDefault);
}

/**
 * Whether a connection to this address and port may be made; the check of the address really connected to.
 *
 * @param ip as a socket tells it: IPv4, IPv6, IPv4-mapped, with or without zone. Anything else is refused.
 * @param host the name that was resolved to the address, for entries that allow a host.
 */
export function isAddressAllowed(
  ip: string,
  port: number,
  allow: EgressAllow,
  host?: string,
): boolean {
  const address = unmapped(ip);
  if (!address) return false;
  const ordinary = isOrdinary(port, allow);
  const grants = (entry: { port: number | undefined }) =>
    entry.port === undefined ? ordinary : entry.port === port;
  return (
    allow.networks.some((entry) => grants(entry) && contains(entry.list, address)) ||
    (host !== undefined && allow.hosts.some((entry) => grants(entry) && names(entry, host))) ||
    (ordinary && isPublic(address))
  );
}

/**
 * Refuses target URLs that could never be called, as far as the text tells (D65); a name is judged when its
 * address is known, at the connection.
 *
 * @throws invalidArgument TARGET_URL_DENIED; metadata: `rule` (syntax, scheme, userinfo, address, port), and `setting`
 * where configuration can allow it.
 */
export function checkTargetUrl(url: string, allow: EgressAllow, field = "target.url"): void {
  const parsed = URL.parse(url);
  if (!parsed) throw denied(field, "syntax", "must be an absolute http or https URL");
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:")
    throw denied(field, "scheme", "must be an http or https URL");
  if (parsed.username !== "" || parsed.password !== "")
    throw denied(field, "userinfo", "must not carry a user name or password");

  const port = Number(parsed.port || (parsed.protocol === "https:" ? 443 : 80));
  const host = parsed.hostname.replace(/\.$/, "");
  const addresses = literalAddresses(host);
  if (addresses.some((address) => isAddressAllowed(address, port, allow, host))) return;
  const grantsHost = allow.hosts.some((entry) => entry.port === port && names(entry, host));
  if (!isOrdinary(port, allow) && (addresses.length > 0 || !grantsHost))
    throw denied(field, "port", "must use port 80, 443 or one from 1024 on");
  if (addresses.length > 0) throw denied(field, "address", "must not lead to an internal address");
}

/** An address or CIDR network as a list of one, or undefined if the text is none. */
export function parseNetwork(text: string): BlockList | undefined {
  const [, address = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = familyOf(address);
  if (!family || address.includes("%")) return undefined;
  const most = family === "ipv4" ? 32 : 128;
  const prefix = bits === undefined ? most : Number(bits);
  if (prefix > most) return undefined;
  const list = new BlockList();
  list.addSubnet(address, prefix, family);
  return list;
}

function denied(field: string, rule: string, description: string): DomainError {
  const allowable = rule === "address" || rule === "port";
  return invalidField(
    field,
    "TARGET_URL_DENIED",
    allowable ? `${description}, unless ${setting} allows it` : description,
    { metadata: allowable ? { rule, setting } : { rule } },
  );
}

// The URL parser has already turned every notation of an address (octal, hex, one number, full-width) into this one.
function literalAddresses(host: string): string[] {
  if (host === "localhost" || host.endsWith(".localhost")) return ["127.0.0.1", "::1"];
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  return isIP(bare) === 0 ? [] : [bare];
}

const isOrdinary = (port: number, allow: EgressAllow) =>
  port === 80 || port === 443 || (port >= 1024 && port <= 65_535) || allow.ports.has(port);

function names(entry: { name: string; subdomains: boolean }, host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return entry.subdomains ? name.endsWith(`.${entry.name}`) : name === entry.name;
}

const contains = (list: BlockList, address: string) =>
  list.check(address, address.includes(":") ? "ipv6" : "ipv4");

function familyOf(ip: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(ip);
  return version === 0 ? undefined : version === 4 ? "ipv4" : "ipv6";
}

const internalIpv4 = networks(
  ["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ["192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"],
  ["198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
);
// IPv6 has one public block; in it lie protocol assignments with Teredo, documentation, and 6to4 with its IPv4 inside.
const publicIpv6 = networks(["2000::/3"]);
const internalIpv6 = networks(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);
const nat64 = networks(["64:ff9b::/96"]);

function isPublic(address: string): boolean {
  if (!address.includes(":")) return !internalIpv4.check(address, "ipv4");
  // Where DNS64 is in use, all IPv4 hosts have such addresses: they are as public as the address inside.
  if (nat64.check(address, "ipv6")) return isPublic(lastIpv4(address));
  return publicIpv6.check(address, "ipv6") && !internalIpv6.check(address, "ipv6");
}

/** The address without zone, and an IPv4-mapped one as the IPv4 address that the system connects to. */
function unmapped(ip: string): string | undefined {
  const address = ip.replace(/%.*$/, "");
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : undefined;
  return mapped.check(address, "ipv6") ? lastIpv4(address) : address;
}

const mapped = networks(["::ffff:0:0/96"]);

function lastIpv4(ipv6: string): string {
  const groups = new URL(`http://[${ipv6}]/`).hostname.slice(1, -1).split(":");
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group || "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function networks(...lists: string[][]): BlockList {
  const all = new BlockList();
  for (const text of lists.flat()) {
    const [address = "", bits] = text.split("/");
    all.addSubnet(address, Number(bits), address.includes(":") ? "ipv6" : "ipv4");
  }
  return all;
}

function splitPort(entry: string): { subject: string; port: number | undefined } {
  const [, bracketed, bracketedPort] = /^\[([^\]]*)\](?::(\d+))?$/.exec(entry) ?? [];
  if (bracketed?.includes(":"))
    return { subject: bracketed, port: parsePort(bracketedPort, entry) };
  const [, subject = entry, port] = /^([^:]*)(?::(\d+))?$/.exec(entry) ?? [];
  return { subject, port: parsePort(port, entry) };
}

function parsePort(text: string | undefined, entry: string): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (port >= 1 && port <= 65_535) return port;
  throw badEntry(entry);
}

function parseHost(subject: string, entry: string): { name: string; subdomains: boolean } {
  const subdomains = subject.startsWith("*.");
  const given = subdomains ? subject.slice(2) : subject;
  // The conversion would quietly cut a text at these.
  const name = /[\s/\\?#@:%[\]]/.test(given) ? "" : domainToASCII(given);
  const isName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_-]{1,63})*$/.test(name);
  // A last label of digits is an address written in an odd way; as a host it would never match.
  if (!isName || /(^|\.)(\d+|0x[0-9a-f]*)$/.test(name)) throw badEntry(entry);
  return { name, subdomains };
}

function badEntry(entry: string): DomainError {
  return invalidArgument(
    "EGRESS_ENTRY_INVALID",
    `"${entry}" is no address, CIDR network, host name or "*:port"; right are 10.0.0.0/8, [fd00::/8]:8443, hooks.internal, *.internal:8443, *:587`,
    { metadata: { entry } },
  );
}
