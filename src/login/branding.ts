import { contrast, mix, parseColour, readableOn, type Colour } from "./colours.ts";

export type Branding = {
  productName: string;
  /** `#rgb` or `#rrggbb`; anything else counts as not set. */
  primaryColor?: string | undefined;
  backgroundColor?: string | undefined;
  theme: "auto" | "light" | "dark";
  /** A path on our host; anything else is not shown. */
  logo?: string | undefined;
};

export type Theme = "light" | "dark";

/** Colours of one theme, made from the branding so that text on each is readable (WCAG 2.2 AA). */
export type Palette = {
  ground: Colour;
  onGround: Colour;
  brand: Colour;
  onBrand: Colour;
  /** The brand as a colour of text on a surface. */
  accent: Colour;
};

const pine = "#17594a" as Colour;
type Base = { surface: Colour; ground: Colour; edge: Colour };
const bases: Record<Theme, Base> = {
  light: base("#ffffff", "#f4f2ec", "#000000"),
  dark: base("#191e1c", "#0f1312", "#ffffff"),
};

/** The surfaces on which forms stand; the style sheet has the same. */
export const surfaceOf = (theme: Theme): Colour => bases[theme].surface;

/** Buttons keep 3:1 to the surface they stand on, and accents 4.5:1: a brand that does not is mixed until it does. */
export function paletteOf(branding: Branding, theme: Theme): Palette {
  const { surface, edge } = bases[theme];
  const primary = parseColour(branding.primaryColor) ?? pine;
  const ground = groundOf(branding, theme);
  const brand = apart(primary, surface, 3, edge);
  return {
    ground,
    onGround: readableOn(ground),
    brand,
    onBrand: readableOn(brand),
    accent: apart(primary, surface, 4.6, edge),
  };
}

// A background colour belongs to the theme that it is like. The other theme takes a breath of it.
function groundOf(branding: Branding, theme: Theme): Colour {
  const base = bases[theme].ground;
  const own = parseColour(branding.backgroundColor);
  if (own === undefined) return base;
  const ownTheme = readableOn(own) === "#ffffff" ? "dark" : "light";
  return ownTheme === theme || branding.theme !== "auto" ? own : mix(base, own, 0.1);
}

function apart(colour: Colour, from: Colour, least: number, towards: Colour): Colour {
  const steps = Array.from({ length: 21 }, (_, step) => mix(colour, towards, step / 20));
  return steps.find((step) => contrast(step, from) >= least) ?? towards;
}

function base(surface: string, ground: string, edge: string): Base {
  return { surface: surface as Colour, ground: ground as Colour, edge: edge as Colour };
}
