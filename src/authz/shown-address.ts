import { createHmac } from "node:crypto";
import { isIP } from "node:net";
import { addressOf, networkOf } from "./source.ts";

/** How addresses of clients stand in the log: whole, their network alone, a digest of the day, or not at all. */
export const addressForms = ["cut", "full", "hashed", "off"] as const;
export type AddressForm = (typeof addressForms)[number];

/** What the log shows of an address; undefined where it shows nothing. */
export type ShowAddress = (peer: string) => string | undefined;

const mostKnown = 1_000;
const dayMs = 24 * 60 * 60_000;

/**
 * Shows addresses for the log. A digest is the same for one address on one day, on all replicas, and tells nobody who lacks
 * the key which address it is.
 *
 * @param key the master key, from which that of the digests is derived
 */
export function showAddresses(form: AddressForm, key: Uint8Array, now: () => Date): ShowAddress {
  if (form === "off") return () => undefined;
  if (form === "full") return (peer) => addressOf(peer) || undefined;
  const known = new Map<string, string | undefined>();
  const digests = createHmac("sha256", key).update("idsvc/log-addresses").digest();
  let day = 0;
  const digestOf = (address: string): string =>
    createHmac("sha256", digests).update(`${day} ${address}`).digest("hex").slice(0, 16);
  return (peer) => {
    const today = Math.floor(now().getTime() / dayMs);
    if (today !== day || known.size >= mostKnown) known.clear();
    day = today;
    let shown = known.get(peer);
    if (shown === undefined) {
      const address = addressOf(peer);
      const isAddress = isIP(address) !== 0;
      shown = !isAddress ? address : form === "cut" ? networkOf(address) : digestOf(address);
      known.set(peer, shown);
    }
    return shown === "" ? undefined : shown;
  };
}
