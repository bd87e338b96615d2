import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

const mostBytes = 1024 * 1024;
const mostTransports = 8;
const transportName = /^[a-z-]{1,32}$/;

/** What a browser made of a challenge, in the JSON form of WebAuthn; what is missing is an empty text. */
export type BrowserAnswer = {
  id: string;
  rawId: string;
  type: string;
  clientDataJSON: string;
  /** Of a registration. */
  attestationObject: string;
  transports: string[];
  /** Of a login. */
  authenticatorData: string;
  signature: string;
};

/** @returns undefined for one of more than 1 MiB */
export function readBrowserAnswer(json: JsonObject): BrowserAnswer | undefined {
  if (Buffer.byteLength(JSON.stringify(json)) > mostBytes) return undefined;
  const response = objectOf(json["response"]);
  const transports = response["transports"];
  return {
    id: textOf(json["id"]),
    rawId: textOf(json["rawId"]),
    type: textOf(json["type"]),
    clientDataJSON: textOf(response["clientDataJSON"]),
    attestationObject: textOf(response["attestationObject"]),
    transports: (Array.isArray(transports) ? transports.map(textOf) : [])
      .filter((name) => transportName.test(name))
      .slice(0, mostTransports),
    authenticatorData: textOf(response["authenticatorData"]),
    signature: textOf(response["signature"]),
  };
}

/** A text of JSON; what is none is an empty one. */
export const textOf = (value: JsonValue | undefined): string =>
  typeof value === "string" ? value : "";
const objectOf = (value: JsonValue | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};

/**
 * The origin of the page on which the browser answered; undefined for what stands in a frame of another origin.
 *
 * Source: WebAuthn Level 3, 7.1 steps 9 to 11.
 * @throws SyntaxError when it cannot be read
 */
export function originOf(clientDataJSON: string): string | undefined {
  const text = Buffer.from(clientDataJSON, "base64url").toString("utf8");
  const said = objectOf(JSON.parse(text) as JsonValue);
  return said["crossOrigin"] === true ? undefined : textOf(said["origin"]);
}

/**
 * The origin of the page on which the browser answered, where it is one that may answer for the domain: one that the
 * instance lists as related, or the domain itself under https, or http on localhost alone, as browsers have it. Whoever
 * serves log-in pages of their own may do so on any port of the domain; pages below the domain may not. The hosted login
 * takes its own origin alone (J18).
 *
 * Source: WebAuthn Level 3, 5.11 and 13.4.9.
 * @throws SyntaxError, TypeError when it cannot be read
 */
export function originFor(
  clientDataJSON: string,
  { domain, related }: { domain: string; related: readonly string[] },
): string | undefined {
  const origin = originOf(clientDataJSON);
  if (origin === undefined || related.includes(origin)) return origin;
  const { protocol, hostname } = new URL(origin);
  const isSecure = protocol === "https:" || (protocol === "http:" && hostname === "localhost");
  return isSecure && hostname === domain ? origin : undefined;
}
