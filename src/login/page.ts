import type { Branding } from "./branding.ts";
import type { Language } from "../texts/languages.ts";
import type { TextKey, Translate } from "../texts/texts.ts";

type CodeOf<Prefix extends string> = TextKey extends infer Key
  ? Key extends `${Prefix}.${infer Code}`
    ? Code
    : never
  : never;

export type ProblemCode = CodeOf<"problem">;
export type NoticeCode = CodeOf<"notice">;

/** What is wrong with a form that comes back: with one field, by its name, or with all of it. */
export type Problem = {
  code: ProblemCode;
  field?: string;
  /** PASSWORD_TOO_SHORT: how many characters there must be. */
  count?: number;
};

/** What every page has, whatever it shows. */
export type Page = {
  language: Language;
  /** Those to choose from. */
  languages: readonly Language[];
  t: Translate;
  nonce: string;
  branding: Branding;
  /** Path (and query, but not the flow) that shows this page again; without one no other language is offered. */
  self?: string;
  csrf: string;
  flow?: string;
  /** What went well just before. */
  notice?: NoticeCode;
  problems?: readonly Problem[];
  /** It is for a change to their account that somebody proves themselves: where they go without. */
  cancel?: string;
};

/** Whether an address is a path on our host, and can lead nowhere else. */
export const isOwnPath = (address: string): boolean => /^\/(?![/\\])/.test(address);

/** A path of ours and its query; of what is no path of ours the root. */
export function placeOf(path: string): { path: string; query: URLSearchParams } {
  const [pathname = "", query] = (isOwnPath(path) ? path : "/").split("?", 2);
  return { path: pathname, query: new URLSearchParams(query) };
}

/** The address of a page of the same flow. What is no path of ours leads to the root. */
export const inFlow = (page: Page, to: string): string => {
  const { path, query } = placeOf(to);
  if (page.flow !== undefined) query.set("flow", page.flow);
  return query.size === 0 ? path : `${path}?${query}`;
};
