import type { Concern, Deps } from "../../projection/module.ts";
import { lastOwners } from "./owners.ts";

const monthMs = 30 * 24 * 3_600_000;
const mostTold = 20;

/** Instances that nobody can rule any more, and those that soon nobody will (J3). */
export async function ownerConcerns(deps: Pick<Deps, "db" | "events" | "now">): Promise<Concern[]> {
  const { now } = deps;
  const soon = now().getTime() + monthMs;
  const [none, few]: [string[], string[]] = [[], []];
  for await (const { instanceId, end } of lastOwners(deps)) {
    if (end <= now().getTime()) none.push(instanceId);
    else if (end <= soon) few.push(instanceId);
  }
  return [
    {
      name: "instances_without_owner",
      text: "instances have no active IAM_OWNER who can log in: run idsvc recover",
      count: none.length,
      some: none.slice(0, mostTold),
    },
    {
      name: "instances_soon_without_owner",
      text: "instances have no IAM_OWNER who can still log in in 30 days: their last credentials end",
      count: few.length,
      some: few.slice(0, mostTold),
    },
  ];
}
