import { randomBytes } from "node:crypto";

const processPart = randomBytes(9).toString("base64url");
let calls = 0;

/** Names one request in logs and errors: unique, and no secret. */
export const newRequestId = (): string => `${processPart}-${(calls++).toString(36)}`;
