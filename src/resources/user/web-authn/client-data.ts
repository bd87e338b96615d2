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
 * The origin of the page on which the browser answered, where it is one that may answer for the domain: the domain
 * itself, on whatever port, under https; http on localhost alone, as browsers have it. Pages below the domain may not, nor
 * may what stands in a frame of another origin.
 *
 * Source: WebAuthn Level 3, 7.1 steps 9 to 11 and 13.4.9.
 * @throws SyntaxError, TypeError when it cannot be read
 */
export function originFor(clientDataJSON: string, domain: string): string | undefined {
  const text = Buffer.from(clientDataJSON, "base64url").toString("utf8");
  const said = objectOf(JSON.parse(text) as JsonValue);
  if (said["crossOrigin"] === true) return undefined;
  const origin = textOf(said["origin"]);
  const { protocol, hostname } = new URL(origin);
  const isSecure = protocol === "https:" || (protocol === "http:" && hostname === "localhost");
  return isSecure && hostname === domain ? origin : undefined;
}
