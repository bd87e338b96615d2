// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { encode } from "uqr";
import { qrPicture } from "../../src/login/parts/qr-picture.ts";

/** The squares that the strokes of a picture cover, as it is drawn. */
function drawnIn(svg: string): boolean[][] {
  const [, side = "0"] = /viewBox="0 0 (\d+)/.exec(svg) ?? [];
  const size = Number(side);
  const squares = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const [, path = ""] = / d="([^"]*)"/.exec(svg) ?? [];
  let [x, y] = [0, 0];
  for (const [, kind, first = "0", second = "0"] of path.matchAll(
    /([Mmh])([\d.]+)(?: ([\d.]+))?/g,
  )) {
    if (kind === "M") [x, y] = [Number(first), Math.floor(Number(second))];
    if (kind === "m") x += Number(first);
    if (kind !== "h") continue;
    squares[y]?.fill(true, x, x + Number(first));
    x += Number(first);
  }
  return squares;
}

describe("the picture of a QR code", () => {
  for (const text of ["otpauth://totp/acme:anna?secret=JBSWY3DP", "x".repeat(800)]) {
    it(`has the squares of the code, of ${text.length} letters`, () => {
      const svg = qrPicture(text, "label").toString();
      assert.deepEqual(drawnIn(svg), encode(text, { ecc: "L", border: 4 }).data);
    });
  }
});
