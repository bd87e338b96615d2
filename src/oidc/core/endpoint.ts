import type { OidcAnswer, OidcRequest } from "./http.ts";
import type { At } from "./ports.ts";

/** One endpoint of the provider: its path below the issuer, and what it does. */
export type Endpoint = {
  /** Its name in the discovery document; empty where it has none. */
  metadata: string;
  path: string;
  methods: readonly ("GET" | "POST")[];
  /** Clients call it, or browsers are led to it. */
  caller: "client" | "browser";
  /** Which pages of other origins may read its answers (A3). */
  crossOrigin: "apps" | "any" | "none";
  /** Whether its requests usually change something: then they wait for a little while a disk flushes. */
  isChange: boolean;
  /** Whoever calls it makes the service keep something: each request takes one from the budget of its source. */
  budget?: "flows";
  handle(request: OidcRequest, at: At): Promise<OidcAnswer>;
};
