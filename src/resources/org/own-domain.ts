export type ValidationType = "http" | "dns";

/** Events before there were ids of domains name only the domain, which then is its id. */
export type OwnDomain = { domain: string; domainId?: string };

/**
 * What stands behind a verified domain: a token that was found where only its holder can put one, that the service made it
 * below the instance's own, what an import says, or nothing, as nobody asked (J10).
 */
export type DomainProof = "challenge" | "generated" | "import" | "none";

/** Whether it makes the domain the organization's. Events of before there were proofs do not say, and are judged by what was asked. */
export const isProof = (proof: string | undefined): boolean =>
  proof === "challenge" || proof === "generated";

export const domainIdOf = ({ domain, domainId }: OwnDomain): string => domainId ?? domain;
