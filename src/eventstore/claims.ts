import type { ClaimChange } from "../storage/database.ts";
import type { ClaimStatement } from "./event.ts";

/** A claim of an event, as the store takes it. */
export function claimChange(
  { systemWide, ...statement }: ClaimStatement,
  instanceId: string,
  holderType: string,
  holderId: string,
): ClaimChange {
  return { ...statement, scope: systemWide ? "" : instanceId, holderType, holderId };
}

/** Tells a claim from all others of the store. */
export const claimName = ({
  scope,
  kind,
  value,
}: Pick<ClaimChange, "scope" | "kind" | "value">): string => JSON.stringify([scope, kind, value]);

export const holderOf = ({
  holderType,
  holderId,
}: Pick<ClaimChange, "holderType" | "holderId">): string => `${holderType}/${holderId}`;
