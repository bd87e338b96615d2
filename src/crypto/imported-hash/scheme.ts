import { equalInConstantTime } from "../digests.ts";

/** A hash that another system made: understood, and not too costly to check. */
export type ImportedHash = {
  /** `pbkdf2-sha256`, `bcrypt`, ... */
  scheme: string;
  /** Takes as long as the hash's cost asks for. */
  matches(password: string): boolean;
};

/** Reads the hashes of one scheme; undefined for those of another. @throws HashRefusal */
export type Scheme = (encoded: string) => ImportedHash | undefined;

/** What is wrong with a hash; never a part of it. */
export class HashRefusal extends Error {
  override name = "HashRefusal";
  readonly reason: "PASSWORD_HASH_UNKNOWN" | "PASSWORD_HASH_MALFORMED" | "PASSWORD_HASH_TOO_COSTLY";

  constructor(reason: HashRefusal["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

export const malformed = (right: string) =>
  new HashRefusal("PASSWORD_HASH_MALFORMED", `is cut short or misspelled; right is ${right}`);

/** Refuses a cost out of its limits; one below them is a misspelling. */
export function checkCost(what: string, cost: number, least: number, most: number): void {
  if (cost > most) {
    const text = `costs too much to check: ${what} is ${cost}, at most ${most} is taken`;
    throw new HashRefusal("PASSWORD_HASH_TOO_COSTLY", text);
  }
  if (!(cost >= least)) throw malformed(`${what} of at least ${least}`);
}

export const equalTexts = (one: string, other: string): boolean =>
  equalInConstantTime(Buffer.from(one, "latin1"), Buffer.from(other, "latin1"));
