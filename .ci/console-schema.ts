import { type DescField, type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { services } from "#gen/client_services.ts";
import { http } from "#gen/google/api/annotations_pb.ts";
import { plainRules } from "../src/api/string-rules.ts";

/** What forms of the console are told of a field of a request; the rules of the service that a control can show. */
type Rule = {
  required?: true;
  /** May be left out, but is not empty where it is there. */
  filled?: true;
  secret?: true;
  mail?: true;
  maxLength?: number;
  pattern?: string;
  least?: number;
  most?: number;
};

/**
 * What of the schema is an option, and so not in the schema that browsers get: rules of the fields of requests by message and
 * field, and the address of each method over REST.
 */
export function consoleSchema(): { rules: Record<string, Rule>; rest: Record<string, string[]> } {
  const rules: Record<string, Rule> = {};
  const rest: Record<string, string[]> = {};
  const seen = new Set<DescMessage>();
  const visit = (message: DescMessage): void => {
    if (seen.has(message) || message.typeName.startsWith("google.")) return;
    seen.add(message);
    for (const field of message.fields) {
      const rule = ruleOf(field);
      if (Object.keys(rule).length > 0) rules[`${message.typeName}.${field.name}`] = rule;
      if (field.message !== undefined) visit(field.message);
    }
  };
  for (const service of Object.values(services)) {
    for (const method of service.methods) {
      visit(method.input);
      if (!hasOption(method, http)) continue;
      const { pattern, body } = getOption(method, http);
      if (typeof pattern.value !== "string") continue;
      const name = `${service.typeName}.${method.name}`;
      rest[name] = [pattern.case.toUpperCase(), pattern.value, body];
    }
  }
  return { rules, rest };
}

function ruleOf(field: DescField): Rule {
  const isSecret = field.proto.options?.debugRedact === true;
  const rule: Rule = isSecret ? { secret: true } : {};
  if (!hasOption(field, fieldRules)) return rule;
  const rules = getOption(field, fieldRules);
  if (rules.required) rule.required = true;
  const { type } = rules;
  // Of a list, the rules of what is in it.
  const each = type.case === "repeated" ? type.value.items?.type : type;
  if (type.case === "repeated" && type.value.minItems > 0n) rule.required = true;
  if (each?.case === "string") {
    const { minLen, maxLen, pattern, wellKnown } = plainRules(each.value).rules;
    if (minLen > 0n && type.case === "string") {
      rule[field.presence === FeatureSet_FieldPresence.IMPLICIT ? "required" : "filled"] = true;
    }
    if (maxLen > 0n) rule.maxLength = Number(maxLen);
    // A control demands its pattern of the whole text.
    if (/^\^.*\$$/.test(pattern)) rule.pattern = pattern;
    if (wellKnown.case === "email") rule.mail = true;
  }
  if (each?.case === "uint64" || each?.case === "uint32") {
    const { greaterThan, lessThan } = each.value;
    if (greaterThan.case === "gte") rule.least = Number(greaterThan.value);
    if (lessThan.case === "lte") rule.most = Number(lessThan.value);
  }
  return rule;
}

if (import.meta.main) console.log(JSON.stringify(consoleSchema()));
