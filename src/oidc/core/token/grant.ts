import type { Awaitable } from "../../../awaitable.ts";
import type { Parameters } from "../form.ts";
import type { OidcRequest } from "../http.ts";
import type { At, Client, GrantType, Ports, Spend } from "../ports.ts";

/** What the grants use of the world. */
export type TokenParts = Omit<Ports, "browsers" | "interactions">;

export type TokenRequest = { request: OidcRequest; form: Parameters; at: At };

/** A request of an app that has proven itself and has the grant. */
export type ClientTokenRequest = TokenRequest & { client: Client; spend: readonly Spend[] };

/** The body of a successful answer. */
export type TokenAnswer = Record<string, unknown>;

/** One grant type of the token endpoint, either of apps or of machine users. */
export type Grant = {
  name: string;
  /** Whether the instance has it; otherwise it is unsupported. */
  isOn?(parts: TokenParts, at: At): Awaitable<boolean>;
} & (
  | {
      /** What the app must be registered for. */
      appGrant: GrantType;
      handle(parts: TokenParts, request: ClientTokenRequest): Promise<TokenAnswer>;
    }
  | {
      appGrant?: undefined;
      handle(parts: TokenParts, request: TokenRequest): Promise<TokenAnswer>;
    }
);

/** For the log, behind what is unknown: that a newer build has made it. */
export function newer({ tokens }: Pick<TokenParts, "tokens">, value: string): string {
  const why = tokens.newerFormat(value);
  return why === undefined ? "" : `: ${why}`;
}
