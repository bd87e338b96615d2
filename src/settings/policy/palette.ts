import { contrast, mix, parseColour, readableOn, type Colour } from "./colours.ts";

/** What an owner may choose of the colours; anything that is no `#rgb` or `#rrggbb` counts as not set. */
export type Colours = {
  primaryColor?: string | undefined;
  backgroundColor?: string | undefined;
  theme: "auto" | "light" | "dark";
};

export type PaletteTheme = "light" | "dark";

/** Colours of one theme, made from the branding so that text on each is readable (WCAG 2.2 AA). */
export type Palette = {
  ground: Colour;
  onGround: Colour;
  /** As the owner wrote it. */
  brand: Colour;
  /** Around what is filled with the brand: it stands out from a surface also where the brand does not. */
  brandEdge: Colour;
  onBrand: Colour;
  /** The brand as a colour of text on a surface, sunken or not. */
  accent: Colour;
};

const pine = "#17594a" as Colour;
/** `sunken` is what stands back from a surface, and is nearer to its text. */
type Base = { surface: Colour; sunken: Colour; ground: Colour; edge: Colour };
const bases: Record<PaletteTheme, Base> = {
  light: baseOf("#ffffff", "#f7f6f3", "#f4f2ec", "#000000"),
  dark: baseOf("#191e1c", "#212725", "#0f1312", "#ffffff"),
};

/** The surfaces on which forms stand; the style sheet has the same. */
export const surfaceOf = (theme: PaletteTheme): Colour => bases[theme].surface;

/**
 * The brand of an owner stays as it is, with black or white on it, whichever is read better. Edges keep 3:1 to the surface that they stand
 * on, and accents 4.5:1: a brand that does not is mixed until it does. Where an owner gives none, ours is mixed for each theme.
 */
export function paletteOf(branding: Colours, theme: PaletteTheme): Palette {
  const { surface, sunken, edge } = bases[theme];
  const own = parseColour(branding.primaryColor);
  const primary = own ?? pine;
  const ground = groundOf(branding, theme);
  const brandEdge = apart(primary, surface, 3, edge);
  const brand = own ?? brandEdge;
  return {
    ground,
    onGround: readableOn(ground),
    brand,
    brandEdge,
    onBrand: readableOn(brand),
    accent: apart(primary, sunken, 4.6, edge),
  };
}

// A background colour belongs to the theme that it is like. The other theme takes a breath of it.
function groundOf(branding: Colours, theme: PaletteTheme): Colour {
  const base = bases[theme].ground;
  const own = parseColour(branding.backgroundColor);
  if (own === undefined) return base;
  const ownTheme = readableOn(own) === "#ffffff" ? "dark" : "light";
  return ownTheme === theme || branding.theme !== "auto" ? own : mix(base, own, 0.1);
}

function apart(colour: Colour, from: Colour, least: number, towards: Colour): Colour {
  for (let step = 0; step <= 20; step += 1) {
    const mixed = mix(colour, towards, step / 20);
    if (contrast(mixed, from) >= least) return mixed;
  }
  return towards;
}

function baseOf(surface: string, sunken: string, ground: string, edge: string): Base {
  const colour = (text: string) => text as Colour;
  return {
    surface: colour(surface),
    sunken: colour(sunken),
    ground: colour(ground),
    edge: colour(edge),
  };
}
