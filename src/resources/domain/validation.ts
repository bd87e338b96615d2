import type { DomainChallenge, DomainProof } from "../../authz/ports.ts";
import { failedPrecondition } from "../../errors.ts";
import { onlySecretOf } from "../../eventstore/secret-store.ts";
import type { ValidationType } from "../org/index.ts";

/** Where the token of a domain is kept until it is proven. It is public once it is in place, and secret before. */
export const tokenRef = onlySecretOf("domain", "validation_token");

/** What has to be where for a domain to be proven (specification 10.3). */
export const challengeOf = (
  domain: string,
  token: string,
  type: ValidationType,
): DomainChallenge =>
  type === "http"
    ? { token, url: `https://${domain}/.well-known/idsvc-challenge/${token}.txt` }
    : { token, record: `_idsvc-challenge.${domain}` };

export const notProven = (
  { url, record }: DomainChallenge,
  proof: Exclude<DomainProof, "proven">,
) =>
  failedPrecondition(
    "DOMAIN_NOT_PROVEN",
    proof === "absent"
      ? `the token was not found at ${url ?? `the TXT record ${record}`}: put it there and try again`
      : `${url ?? `the TXT record ${record}`} could not be read: try again when it answers`,
    { metadata: { found: proof } },
  );
