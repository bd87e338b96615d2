import type { Awaitable } from "../../awaitable.ts";
import type { At } from "./ports.ts";

export type Lifetimes = {
  accessTokenMs: number;
  idTokenMs: number;
  refreshTokenIdleMs: number;
  refreshTokenMs: number;
  codeMs: number;
};

export interface Settings {
  /** Of what is issued to an app, or to a machine user by itself, of an organization. */
  lifetimes(at: At, organizationId: string): Awaitable<Lifetimes>;
  isTokenExchangeOn(at: At): Awaitable<boolean>;
  /** Whether people may be acted for, as far as the instance and all these organizations say. */
  isImpersonationOn(at: At, organizationIds: readonly string[]): Promise<boolean>;
  /** The languages of the login, as BCP 47 tags. */
  uiLocales(at: At): Awaitable<readonly string[]>;
  /** The project of the service itself: tokens for it open the APIs. */
  ownProjectId(at: At): Awaitable<string>;
}
