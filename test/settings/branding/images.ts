/** Images of one pixel, as real programs write them, and what is none. */
export const images = {
  "image/png": Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "base64",
  ),
  "image/jpeg": Buffer.concat([
    Buffer.from("ffd8ffe000104a46494600010100000100010000ffdb004300", "hex"),
    Buffer.alloc(64, 1),
    Buffer.from("ffd9", "hex"),
  ]),
  "image/webp": Buffer.from("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA", "base64"),
} as const;

const png = images["image/png"];
const webp = images["image/webp"];

/** By what a name or a first byte would promise. */
export const noImages: Record<string, Buffer> = {
  "an SVG (D78)": Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
  ),
  "a page": Buffer.from("<!doctype html><script>alert(1)</script>"),
  "a GIF": Buffer.from("R0lGODlhAQABAAAAACwAAAAAAQABAAA=", "base64"),
  "a BMP": Buffer.from("BM\0\0\0\0\0\0\0\0"),
  "an icon": Buffer.from("00000100", "hex"),
  "the signature of PNG alone": png.subarray(0, 8),
  "a page behind the signature of PNG": Buffer.concat([
    png.subarray(0, 8),
    Buffer.from("<script>alert(1)</script>"),
  ]),
  "a PNG after a page": Buffer.concat([Buffer.from("<script></script>"), png]),
  "the beginning of a JPEG alone": Buffer.from("ffd8ff", "hex"),
  "a JPEG without a marker": Buffer.from("ffd8ff00", "hex"),
  "a RIFF of sound": Buffer.from("RIFF\x04\0\0\0WAVE"),
  "a WebP of another length": Buffer.concat([webp, Buffer.from("<script></script>")]),
  "a WebP of an unknown chunk": Buffer.from("RIFF\x08\0\0\0WEBPVP8?", "latin1"),
  "one byte": Buffer.from([0x89]),
};
