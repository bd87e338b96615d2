import type { ClaimsRequest, ResponseType } from "./ports.ts";

/** How strongly a client wants its user to log in; the values in the order in which it likes them. */
export type AcrRequest = {
  values: readonly string[];
  /** It would rather have an error than less. */
  isEssential: boolean;
};

export type Prompt = "none" | "login" | "consent" | "select_account" | "create";

/** What the login must still do before the request can be answered. */
export type Missing = "login" | "consent" | "select_account" | "create";

/** A valid authorization request (OpenID Connect Core 1.0 section 3.1.2.1). */
export type AuthorizationRequest = {
  clientId: string;
  redirectUri: string;
  responseType: ResponseType;
  responseMode: "query" | "fragment" | "form_post";
  scope: readonly string[];
  state: string | undefined;
  nonce: string | undefined;
  prompt: readonly Prompt[];
  maxAgeSeconds: number | undefined;
  uiLocales: readonly string[];
  loginHint: string | undefined;
  /** The user of the `id_token_hint`: nobody else will do. */
  hintedUserId: string | undefined;
  /** The organization that the login is limited to, by its scope (specification 11.6). */
  organization: { id: string } | { primaryDomain: string } | undefined;
  codeChallenge: string | undefined;
  claims: ClaimsRequest | undefined;
  /** Absent in requests that an earlier release has kept. */
  acr?: AcrRequest | undefined;
};
