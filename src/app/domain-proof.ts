import type { DomainChallenge, DomainProof } from "../authz/ports.ts";
import type { EgressClient } from "../egress/client.ts";
import { EgressError } from "../egress/error.ts";

const timeoutMs = 10_000;
const longestFile = 1024;

/** Looks for the token of a domain: in the file over HTTPS, or among the TXT records. */
export const createDomainProof =
  (outside: EgressClient) =>
  async (
    { token, url, record }: DomainChallenge,
    signal: AbortSignal | undefined,
  ): Promise<DomainProof> => {
    const limits = { timeoutMs, signal };
    try {
      if (url === undefined) {
        const texts = await outside.texts(record ?? "", limits);
        return texts.some((text) => text.trim() === token) ? "proven" : "absent";
      }
      const call = { ...limits, method: "GET", url, maxBytes: longestFile } as const;
      const { status, body } = await outside.call(call);
      const isThere = status === 200 && Buffer.from(body).toString("utf8").trim() === token;
      return isThere ? "proven" : "absent";
    } catch (error) {
      if (error instanceof EgressError) return "unreachable";
      throw error;
    }
  };
