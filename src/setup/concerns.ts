import { isLoopback } from "../authz/host.ts";
import type { Concern, Deps } from "../projection/module.ts";
import { firstLogin, loginSettingsReader } from "../settings/policy/login.ts";
import { firstPasswordPolicy } from "../settings/policy/password.ts";
import { instanceDomains } from "../resources/instance/index.ts";

const mostTold = 20;

/** Settings of instances that demand less than a new instance begins with (J16). They keep them. */
export async function defaultsConcerns({
  db,
  policies,
}: Pick<Deps, "db" | "policies">): Promise<Concern[]> {
  const d = db.table(instanceDomains);
  const rows = await db.read.select({ instanceId: d.instanceId, domain: d.domain }).from(d);
  const loginOf = loginSettingsReader(db);
  const found: string[] = [];
  for (const [id, own] of Map.groupBy(rows, ({ instanceId }) => instanceId)) {
    const isLocal = own.every(({ domain }) => isLoopback(domain));
    const [login, first] = [await loginOf(id), firstLogin(isLocal)];
    const { minLength } = await policies.passwords(id);
    const looser = {
      min_length: minLength < firstPasswordPolicy(isLocal).minLength,
      force_mfa_administrators: first.force_mfa_administrators && !login.forceMfaAdministrators,
      validate_org_domains: first.validate_org_domains && !login.validateOrgDomains,
    };
    found.push(
      ...Object.entries(looser).flatMap(([name, isLooser]) => (isLooser ? [`${id}/${name}`] : [])),
    );
  }
  return [
    {
      name: "settings_below_defaults",
      text: "settings of instances demand less than those of a new instance (min_length 12, force_mfa_administrators, validate_org_domains; on loopback min_length 8): set them where you can",
      count: found.length,
      some: found.slice(0, mostTold),
    },
  ];
}
