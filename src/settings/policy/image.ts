export type MediaType = "image/png" | "image/jpeg" | "image/webp";

const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

/**
 * What kind of image the bytes begin as: PNG with its IHDR (ISO 15948), JPEG with its first marker (ITU T.81), WebP as a RIFF
 * of just this length with a chunk of VP8 (RFC 9649). Undefined for all else, SVG included, which could hold scripts.
 */
export function mediaTypeOf(bytes: Uint8Array): MediaType | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.subarray(0, png.length).equals(png)) return "image/png";
  const marker = file.at(3) ?? 0;
  if (file.subarray(0, 3).toString("hex") === "ffd8ff" && marker >= 0xc0 && marker <= 0xfe) {
    return "image/jpeg";
  }
  const text = (from: number, to: number) => file.subarray(from, to).toString("latin1");
  const isRiff = text(0, 4) === "RIFF" && text(8, 15) === "WEBPVP8";
  if (isRiff && " LX".includes(text(15, 16)) && file.readUInt32LE(4) === file.length - 8) {
    return "image/webp";
  }
  return undefined;
}
