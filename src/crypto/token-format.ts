/** The format of the tokens and codes that this build makes, and the newest that it knows. */
const tokenFormat = 1;

const opaque = /^idsvc_[a-z]+([1-9]\d{0,8})_/;
const longestHeader = 4_096;

/**
 * The format of a token or code that a newer build has made; undefined for all that this build knows. An opaque one says its format
 * behind its kind (`idsvc_at2_`), a JWT in its header (`idsvc_format`); one that says none is of format 1. Nothing here proves who
 * made it.
 */
export function newerFormatOf(token: string): number | undefined {
  const format = Number(opaque.exec(token)?.[1] ?? formatOfJwt(token));
  return format > tokenFormat ? format : undefined;
}

/** Why a token of another format is refused, in words for whoever operates the service; undefined where it is not. */
export function newerFormat(token: string): string | undefined {
  const format = newerFormatOf(token);
  return format === undefined
    ? undefined
    : `it is of format ${format}, as a newer build makes it; this one knows formats up to ${tokenFormat}`;
}

function formatOfJwt(token: string): number {
  const end = token.indexOf(".");
  if (end < 1 || end > longestHeader) return tokenFormat;
  try {
    const { idsvc_format: format } = Object(
      JSON.parse(Buffer.from(token.slice(0, end), "base64url").toString()),
    );
    return Number.isSafeInteger(format) ? Number(format) : tokenFormat;
  } catch {
    return tokenFormat;
  }
}
