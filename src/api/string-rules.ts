import { clone, hasExtension } from "@bufbuild/protobuf";
import {
  type StringRules,
  StringRulesSchema,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import {
  display_name,
  http_url,
  mail_address,
  name,
  short_text,
  url,
} from "#gen/idsvc/options/v1/options_pb.ts";

/** The rules of a string with what our predefined ones stand for put in plain ones. */
export type PlainRules = {
  rules: StringRules;
  isDisplayName: boolean;
  isHttpUrl: boolean;
};

const predefined: ReadonlySet<number> = new Set(
  [display_name, http_url, mail_address, name, short_text, url].map(({ number }) => number),
);

export function plainRules(given: StringRules): PlainRules {
  const [isName, isUrl] = [hasExtension(given, name), hasExtension(given, url)];
  const rules = clone(StringRulesSchema, given);
  rules.$unknown = (given.$unknown ?? []).filter(({ no }) => !predefined.has(no));
  if (isName || isUrl || hasExtension(given, short_text)) {
    rules.minLen = 1n;
    rules.maxLen = 200n;
  }
  if (isUrl) rules.wellKnown = { case: "uri", value: true };
  if (hasExtension(given, mail_address)) rules.wellKnown = { case: "email", value: true };
  return {
    rules,
    isDisplayName: isName || hasExtension(given, display_name),
    isHttpUrl: isUrl || hasExtension(given, http_url),
  };
}
