/** What is seen of somebody by a request of theirs. */
export type Seen = { address: string; browser: string; system: string };

/**
 * Who was there when something was done, as far as it is known (L4): the address as the connection or a configured
 * proxy gives it, and the families of browser and operating system; empty where nothing was sent.
 */
export type Presence = Seen & {
  /**
   * Who was at that address: with whose key address and browser are sealed. Whoever acts for somebody, not for whom they act;
   * `system:` and a name for a system caller.
   */
  personId?: string | undefined;
  /** The session that was called with, or that came of it. */
  sessionId?: string | undefined;
  /** The flow of the hosted login. */
  flowId?: string | undefined;
  /** The OIDC session of the token that was called with, or that came of it. */
  familyId?: string | undefined;
  /** Who acts for the user, the last one first (RFC 8693). */
  actorIds?: readonly string[] | undefined;
  /** A browser of the hosted login, for which the service acts: who it is turns out in the unit. */
  isVisitor?: boolean | undefined;
};

/** What events tell of a presence. What was sealed with a key that is gone is undefined. */
export type Origin = Omit<Presence, "isVisitor" | keyof Seen> & {
  id: string;
  seen: Seen | undefined;
};
