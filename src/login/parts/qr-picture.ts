import { encode } from "uqr";
import { html, type Html } from "../../html.ts";

/** A text as QR code: dark squares on white, in either theme, as readers want it. A row is one stroke, with gaps where it is light. */
export function qrPicture(text: string, label: string): Html {
  // A screen has no damage to correct.
  const { data, size } = encode(text, { ecc: "L", border: 4 });
  const path = data.map((row, y) => strokesOf(row, y)).join("");
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path stroke="#000" d="${path}"/></svg>`;
}

function strokesOf(row: readonly boolean[], y: number): string {
  const written = row.map((isDark) => (isDark ? "1" : "0")).join("");
  let path = "";
  let end = 0;
  for (const { 0: dark, index } of written.matchAll(/1+/g)) {
    path += path === "" ? `M${index} ${y}.5` : `m${index - end} 0`;
    path += `h${dark.length}`;
    end = index + dark.length;
  }
  return path;
}
