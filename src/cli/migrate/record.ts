/** A person in the shape that a bulk import takes (`humanUsers`). */
export type HumanRecord = {
  userId: string;
  user: {
    userName: string;
    profile?: {
      firstName: string;
      lastName: string;
      nickName?: string;
      preferredLanguage?: string;
    };
    email?: { email: string; isEmailVerified: boolean };
    hashedPassword?: { value: string };
    passwordChangeRequired?: boolean;
    otpCode?: string;
    idps?: { configId: string; externalUserId: string; displayName: string }[];
  };
  inactive?: boolean;
  metadata?: { key: string; value: string }[];
};

/** What a source gives of one user; `left` says, in words that are counted, what of them does not move. */
export type Migrated = { record?: HumanRecord; left: string[] };

/** A value of a source whose shape nobody vouches for. */
export type Unknown = Record<string, unknown>;

export const asObject = (value: unknown): Unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
export const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");
