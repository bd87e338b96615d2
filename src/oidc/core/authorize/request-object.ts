import type { Parameters } from "../form.ts";
import { refuse } from "./refusal.ts";

/**
 * Request objects are not taken (OpenID Connect Core 1.0 section 6): nothing is read of them, and nothing is fetched.
 * @throws request_not_supported, request_uri_not_supported
 */
export function refuseRequestObject(parameters: Parameters): void {
  if (parameters.has("request")) {
    throw refuse(
      "request_not_supported",
      "request objects are not supported: send plain parameters",
    );
  }
  if (parameters.has("request_uri")) {
    throw refuse(
      "request_uri_not_supported",
      "request_uri is not supported: send plain parameters",
    );
  }
}
