import { type Parameters, words } from "../form.ts";
import type { AuthorizationRequest, Client, ResponseType } from "../ports.ts";
import { objectIn } from "./id-token-hint.ts";
import { refuse } from "./refusal.ts";

/** The response types that there are, and how their answers travel by default (OAuth 2.0 Multiple Response Types). */
export const responseTypes: Readonly<Record<ResponseType, "query" | "fragment">> = {
  code: "query",
  id_token: "fragment",
  "id_token token": "fragment",
};

const longestObject = 16_384;

export const responseModes = ["query", "fragment", "form_post"] as const;
type ResponseMode = AuthorizationRequest["responseMode"];

// The order of the words means nothing.
const normal = (value: string): string => words(value).sort().join(" ");
const isType = (value: string): value is ResponseType => Object.hasOwn(responseTypes, value);
const isMode = (value: string | undefined): value is ResponseMode =>
  responseModes.some((mode) => mode === value);

/**
 * How the answer travels, refusals included, so it is found out first. Whatever could hold a token never goes into a
 * query, whatever is asked for.
 */
export function responseModeOf(
  parameters: Parameters,
  repeated: ReadonlySet<string>,
): ResponseMode {
  const type = normal(parameters.get("response_type") ?? "");
  const usual = isType(type) ? responseTypes[type] : type.includes("token") ? "fragment" : "query";
  // A request object is refused, but where it is waited for is what it says.
  const asked = parameters.get("response_mode") ?? modeInside(parameters.get("request"));
  if (repeated.has("response_mode") || !isMode(asked)) return usual;
  return asked === "query" ? usual : asked;
}

function modeInside(request: string | undefined): string | undefined {
  if (request === undefined || request.length > longestObject) return undefined;
  const { response_mode: mode } = objectIn(request.split(".")[1]) ?? {};
  return typeof mode === "string" ? mode : undefined;
}

/** @throws invalid_request when the mode is unknown, or would put a token into a query */
export function checkResponseMode(parameters: Parameters, type: ResponseType): void {
  const asked = parameters.get("response_mode");
  if (asked === undefined) return;
  if (!isMode(asked)) {
    throw refuse("invalid_request", `response_mode must be one of ${responseModes.join(", ")}`);
  }
  if (asked === "query" && responseTypes[type] !== "query") {
    throw refuse("invalid_request", "tokens are never sent in a query: use fragment or form_post");
  }
}

/** @throws invalid_request, unsupported_response_type, unauthorized_client (RFC 6749 section 4.1.2.1) */
export function responseTypeOf(parameters: Parameters, client: Client): ResponseType {
  const asked = parameters.get("response_type");
  if (asked === undefined)
    throw refuse("invalid_request", "the parameter response_type is missing");
  const type = normal(asked);
  if (!isType(type)) {
    const known = Object.keys(responseTypes).join(", ");
    throw refuse("unsupported_response_type", `response_type must be one of: ${known}`);
  }
  if (!client.responseTypes.includes(type)) {
    throw refuse("unauthorized_client", `the application may not use the response_type ${type}`);
  }
  return type;
}
