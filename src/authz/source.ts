import { BlockList, isIP } from "node:net";

/**
 * Whom budgets count as one: an IPv4 address, or the /64 of an IPv6 address, which one subscriber has whole. What is no address
 * (a proxy may send anything) is one source for all.
 *
 * @param address as the socket or a trusted proxy gives it
 */
export function sourceOf(address: string): string {
  const zone = address.indexOf("%");
  const plain = zone < 0 ? address : address.slice(0, zone);
  const version = isIP(plain);
  if (version !== 6) return version === 4 ? plain : unknown;
  const groups = groupsOf(plain);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return ipv4Of(groups);
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

/** The /24 of an IPv4 address or the /48 of an IPv6 address: where it is from, but not whose it is. */
export function networkOf(address: string): string {
  const source = sourceOf(address);
  if (source.endsWith("::/64")) return `${source.split(":").slice(0, 3).join(":")}::/48`;
  return isIP(source) === 4 ? `${source.slice(0, source.lastIndexOf("."))}.0/24` : source;
}

const longestAddress = 64;

/**
 * An address as it is kept and told: one of IPv4 that is written as one of IPv6 as the former, zones as they are. What is no
 * address, or too long for one, is `unknown`; where there is no connection it is empty.
 *
 * @param address as the socket or a trusted proxy gives it
 */
export function addressOf(address: string): string {
  if (address === "") return "";
  if (address.length > longestAddress || isIP(address) === 0) return unknown;
  if (!address.includes(":")) return address;
  const source = sourceOf(address);
  return source.includes(":") ? address.toLowerCase() : source;
}

const unknown = "unknown";

/** How much more than others sources in private networks may have. */
export const nearbyFactor = 50;

/** Whether a source is on this machine or in a private network: most likely a proxy that nobody configured. */
export function isNearby(source: string): boolean {
  if (source.endsWith("/64")) return nearby.check(source.slice(0, -3), "ipv6");
  return isIP(source) === 4 && nearby.check(source, "ipv4");
}

// RFC 1918, RFC 6598, RFC 3927; RFC 4291, RFC 4193. `::` stands for the /64 of ::1.
const nearby = new BlockList();
nearby.addSubnet("127.0.0.0", 8, "ipv4");
nearby.addSubnet("10.0.0.0", 8, "ipv4");
nearby.addSubnet("172.16.0.0", 12, "ipv4");
nearby.addSubnet("192.168.0.0", 16, "ipv4");
nearby.addSubnet("100.64.0.0", 10, "ipv4");
nearby.addSubnet("169.254.0.0", 16, "ipv4");
nearby.addAddress("::", "ipv6");
nearby.addSubnet("fe80::", 10, "ipv6");
nearby.addSubnet("fc00::", 7, "ipv6");

const ipv4Of = (groups: readonly number[]): string =>
  [6, 7].flatMap((at) => [(groups[at] ?? 0) >> 8, (groups[at] ?? 0) & 0xff]).join(".");

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [front = "", back] = address.split("::", 2);
  const head = parts(front);
  const tail = back === undefined ? [] : parts(back);
  const gap = back === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array.from({ length: gap }, () => 0), ...tail];
}

function parts(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
