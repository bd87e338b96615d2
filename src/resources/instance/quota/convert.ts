import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  Quotas as QuotasMessage,
  QuotasSchema,
  UsageSchema,
} from "#gen/idsvc/resources/instance/v3alpha/instance_pb.ts";
import type { Quotas } from "../events.ts";
import type { InstanceUsage } from "./usage.ts";

const fields = ["users", "organizations", "requestsPerDay", "tokensPerDay"] as const;

/** Null where nothing is limited. */
export function fromQuotas(wanted: QuotasMessage): Quotas | null {
  const given = fields.filter((name) => wanted[name] !== undefined);
  return given.length === 0
    ? null
    : Object.fromEntries(given.map((name) => [name, Number(wanted[name])]));
}

export const toQuotas = (quotas: Quotas): MessageInitShape<typeof QuotasSchema> =>
  Object.fromEntries(Object.entries(quotas).map(([name, most]) => [name, BigInt(most)]));

export const toUsage = ({
  users,
  organizations,
  today,
}: InstanceUsage): MessageInitShape<typeof UsageSchema> => ({
  users,
  organizations,
  requestsToday: BigInt(today.requests),
  tokensToday: BigInt(today.tokens),
});
