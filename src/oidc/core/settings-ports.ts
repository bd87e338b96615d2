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
  lifetimes(at: At): Awaitable<Lifetimes>;
  isTokenExchangeOn(at: At): Awaitable<boolean>;
  isImpersonationOn(at: At): Awaitable<boolean>;
  /** The languages of the login, as BCP 47 tags. */
  uiLocales(at: At): Awaitable<readonly string[]>;
  /** The project of the service itself: tokens for it open the APIs. */
  ownProjectId(at: At): Awaitable<string>;
}
