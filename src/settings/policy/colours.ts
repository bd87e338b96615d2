/** `#rrggbb` in small letters. */
export type Colour = string & { readonly colour: true };

/** Takes `#rgb` and `#rrggbb`. */
export function parseColour(text: string | undefined): Colour | undefined {
  const [, short, long] = /^#(?:([0-9a-f]{3})|([0-9a-f]{6}))$/i.exec(text?.trim() ?? "") ?? [];
  const digits = short === undefined ? long : short.replace(/./g, "$&$&");
  return digits === undefined ? undefined : (`#${digits.toLowerCase()}` as Colour);
}

/** `share` (0 to 1) of the second colour in the first. */
export function mix(one: Colour, other: Colour, share: number): Colour {
  const [a, b] = [channels(one), channels(other)];
  const mixed = a.map((value, at) => Math.round(value + ((b[at] ?? 0) - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}` as Colour;
}

/** The contrast ratio of WCAG 2.2, 1 to 21. */
export function contrast(one: Colour, other: Colour): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Black or white, whichever is easier to read on a colour: at least 4.5:1 on any. */
export function readableOn(colour: Colour): Colour {
  const [dark, light] = ["#000000" as Colour, "#ffffff" as Colour];
  return contrast(light, colour) >= contrast(dark, colour) ? light : dark;
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const channels = (colour: Colour): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
