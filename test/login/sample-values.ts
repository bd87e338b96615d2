/** Options of passkeys, in the form in which the service gives them to a browser. */
export const requestOptions = { challenge: "Y2hhbGxlbmdl", rpId: "localhost", timeout: 60_000 };
export const creationOptions = {
  challenge: "Y2hhbGxlbmdl",
  rp: { id: "localhost", name: "idsvc" },
  user: { id: "dXNlcg", name: "anna@acme.example", displayName: "Anna Lindqvist" },
  pubKeyCredParams: [
    { type: "public-key", alg: -7 },
    { type: "public-key", alg: -257 },
  ],
  authenticatorSelection: { residentKey: "required", userVerification: "required" },
};

/** What a password has to have. */
export const rules = {
  minLength: 12,
  requiresUppercase: true,
  requiresLowercase: true,
  requiresNumber: true,
  requiresSymbol: false,
};
