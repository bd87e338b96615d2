/**
 * Folds text so that spellings which people take for the same compare equal, alike on every database.
 *
 * Source: A9, C4: NFKC(lower(upper(NFKC(x)))). Upper first, because only that joins sharp s with "ss" and
 * dotless i with "i"; twice, because capital sharp s becomes the small one first, and a fold must stand under itself.
 */
export const caseFold = (value: string): string =>
  ascii.test(value) ? value.toLowerCase() : foldOnce(foldOnce(value));

// Of these, normal forms and capital letters change nothing.
const ascii = /^[ -~]*$/;

const foldOnce = (value: string): string =>
  value.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
