import { createHash } from "node:crypto";
import { invalidField } from "../../errors.ts";
import { mediaTypeOf } from "../../settings/policy/image.ts";

/** The image on the button of a provider; `digest` changes with it. */
export type Mark = { mediaType: string; bytes: Uint8Array; digest: string };

/** Where the mark of a provider is served on every host of its instance. */
export const markPath = ({ digest }: Pick<Mark, "digest">, idpId: string): string =>
  `/ui/marks/${encodeURIComponent(idpId)}/${digest}`;

/**
 * The mark that a request gives, as it is kept: base64, empty for one that is taken away.
 *
 * @throws INVALID_ARGUMENT MARK_NOT_AN_IMAGE
 */
export function givenMark(content: Uint8Array | undefined): string | undefined {
  if (content === undefined || content.length === 0) return content && "";
  if (mediaTypeOf(content) === undefined) {
    throw invalidField(
      "idp.idp.mark",
      "MARK_NOT_AN_IMAGE",
      "must hold a PNG, JPEG or WebP image; what the file is called does not matter",
    );
  }
  return Buffer.from(content).toString("base64");
}

/** The mark that is kept; undefined for none. */
export function markOf(kept: string): Mark | undefined {
  const bytes = Buffer.from(kept, "base64");
  const mediaType = mediaTypeOf(bytes);
  const digest = createHash("sha256").update(bytes).digest("base64url");
  return mediaType && { mediaType, bytes, digest };
}
