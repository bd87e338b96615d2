import { DomainError } from "../errors.ts";
import type { ErrorCode } from "./pages/error.ts";
import { PageRefused, type PageContext } from "./page-context.ts";

const pages: Readonly<Record<string, { code: ErrorCode; status: number }>> = {
  IDP_UNAVAILABLE: { code: "PROVIDER_UNAVAILABLE", status: 503 },
  IDP_INACTIVE: { code: "PROVIDER_OFF", status: 403 },
  IDP_UNKNOWN: { code: "PROVIDER_OFF", status: 403 },
  IDP_ANSWER_INVALID: { code: "PROVIDER_FAILED", status: 400 },
  IDP_CONFIG_INVALID: { code: "PROVIDER_FAILED", status: 400 },
  IDP_INTENT_SPENT: { code: "PROVIDER_FAILED", status: 400 },
  IDP_DENIED: { code: "PROVIDER_FAILED", status: 400 },
};

/** What a refusal of a login with a provider means to the person at the browser, who may try another way. */
export function providerRefusal(error: unknown, { flow, hasFlow }: PageContext): unknown {
  const refused = pageOf(error);
  if (refused instanceof PageRefused && hasFlow) refused.flowId = flow.address;
  return refused;
}

function pageOf(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error;
  const page = pages[error.reason];
  if (page === undefined) return error;
  const { code, status } = page;
  return new PageRefused(code, status, `${error.reason}: ${error.message}`, error.cause);
}
