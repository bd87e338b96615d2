import fc from "fast-check";
import type { OidcPeer } from "../support/oidc.ts";

/** What is tried: arbitrary inputs, and what must hold of each. */
export type Target = {
  name: string;
  /** Of the usual number of runs; some take long. */
  share?: number;
  /** It starts services of its own, which is too much for each run of the tests. */
  isLong?: true;
  /** Starts them beforehand: the time that it takes is none of the time for trying. */
  ready?(): Promise<unknown>;
  /** Ends what it started. */
  close?(): Promise<void>;
  property(peer: OidcPeer): fc.IAsyncProperty<unknown> | fc.IProperty<unknown>;
};

export const json = { "content-type": "application/json" };
export const bearer = ({ app }: OidcPeer, isKnown: boolean) =>
  isKnown ? { authorization: `Bearer ${app.token}` } : {};
export const host = ({ issuer }: OidcPeer) => ({ host: new URL(issuer).host });
export const methodsOf = ({ app }: OidcPeer) =>
  app.app.endpoints.filter(({ kind }) => kind === "unary").map(({ rule }) => rule.method);
/** Those that would end what the others are tried on, or that nothing may call while others are at work. */
export const leftOut = new Set(["DeleteInstance", "LimitInstance", "BulkLimitInstances", "Import"]);

/** True nine times of ten. */
export const mostly = fc.integer({ min: 0, max: 9 }).map((drawn) => drawn > 0);

export const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "");

/** A text with a piece of it lost. */
export function damaged(text: string, at = text.length >> 1): string {
  const place = text.length === 0 ? 0 : at % text.length;
  return text.slice(0, place) + text.slice(place + 1 + (at % 3));
}
