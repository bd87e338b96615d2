import type { Where } from "../authz/presence.ts";
import type { DomainError } from "../errors.ts";

/** What the login reads of a request and gives as an answer; the shapes of the port that serves it. */
export type LoginRequest = {
  method: string;
  url: string;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
};

export type LoginAnswer = {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
  cookies?: string[];
  /** What went wrong elsewhere, for the log. */
  cause?: unknown;
};

/** Where a request arrived: the instance, its address, and who sent it. */
export type LoginRequestContext = {
  instanceId: string;
  issuer: string;
  isBlocked: boolean;
  requestId: string;
  peer: string;
  /** What the request tells of where it comes from. */
  where: Where;
};

export type LoginEndpoint = {
  path: string;
  methods: readonly ("GET" | "POST")[];
  crossOrigin: "none";
  handle: (request: LoginRequest, at: LoginRequestContext) => Promise<LoginAnswer>;
  errorPage?: LoginErrors["errorPage"];
  maxBodyBytes?: number | undefined;
};

/** What browsers see in the place of a page, also where the page is the provider's. */
export type LoginErrors = {
  /** Of an error of the service: whose fault it is, and whether to try again. */
  errorPage(
    error: DomainError,
    request: LoginRequest,
    at: LoginRequestContext,
  ): Promise<LoginAnswer>;
  /** Of an instance that is blocked. */
  blockedPage(request: LoginRequest, at: LoginRequestContext): Promise<LoginAnswer>;
};
