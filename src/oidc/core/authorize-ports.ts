/** How strongly a client wants its user to log in; the values in the order in which it likes them. */
export type AcrRequest = {
  values: readonly string[];
  /** It would rather have an error than less. */
  isEssential: boolean;
};

export type Prompt = "none" | "login" | "consent" | "select_account" | "create";

/** What the login must still do before the request can be answered. */
export type Missing = "login" | "consent" | "select_account" | "create";
