import type { Colours } from "../settings/policy/palette.ts";

/** How the pages look. */
export type Branding = Colours & {
  productName: string;
  /** A path on our host; anything else is not shown. */
  logo?: string | undefined;
  /** The same, in its place on dark pages. */
  logoDark?: string | undefined;
};
