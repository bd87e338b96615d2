import type { OidcRequest } from "../http.ts";

/**
 * The client id and secret of an `Authorization: Basic` header, each form-encoded before they were joined (RFC 6749
 * section 2.3.1). `"malformed"` for a header that holds none.
 */
export function readBasic(
  request: OidcRequest,
): { clientId: string; secret: string } | "malformed" | undefined {
  const header = request.headers.get("authorization");
  if (header === null) return undefined;
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header.trim())?.[1];
  if (encoded === undefined) return "malformed";
  const joined = Buffer.from(encoded, "base64").toString("utf8");
  const colon = joined.indexOf(":");
  if (colon === -1) return "malformed";
  const clientId = formDecode(joined.slice(0, colon));
  const secret = formDecode(joined.slice(colon + 1));
  return clientId === undefined || secret === undefined || clientId === ""
    ? "malformed"
    : { clientId, secret };
}

function formDecode(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
