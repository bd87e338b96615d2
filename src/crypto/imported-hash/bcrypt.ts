import bcryptLibrary from "bcrypt";
import { checkCost, malformed, type Scheme } from "./scheme.ts";

const form = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const longest = 72;

/**
 * bcrypt of the revisions 2a, 2b and 2y, which are one algorithm for all passwords it can tell apart. It looks at 72
 * bytes and stops at NUL: longer passwords and those with NUL match nothing, instead of a cut one (D59).
 */
export const bcrypt: Scheme = (encoded) => {
  if (!/^\$2[aby]\$/.test(encoded)) return undefined;
  const [, cost] = form.exec(encoded) ?? [];
  if (cost === undefined) throw malformed("$2b$<cost>$<22 characters of salt><31 of hash>");
  checkCost("cost", Number(cost), 4, 15);
  // The library does not know the name 2y.
  const known = encoded.replace("$2y$", "$2b$");
  return {
    scheme: "bcrypt",
    matches: (password) =>
      Buffer.byteLength(password) <= longest &&
      !password.includes("\0") &&
      bcryptLibrary.compareSync(password, known),
  };
};
