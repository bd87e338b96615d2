import type { SecretStore } from "../eventstore/secret-store.ts";
import type { NoticeCode, Problem } from "./page.ts";

/** What a form comes back with: what is wrong with it, or what was done, and what was typed. */
export type Returned = {
  problems?: readonly Problem[] | undefined;
  notice?: NoticeCode | undefined;
  values?: Readonly<Record<string, string>>;
};

/** The parameter of the address that holds it. */
export const returnedName = "form";

const longest = 2_048;
// Nobody's password is in an address, not even sealed; and what pages make themselves is made anew.
const left: ReadonlySet<string> = new Set([
  "password",
  "new_password",
  "credential",
  "csrf",
  "flow",
]);

type FormAddress = { instanceId: string; agentId: string; path: string };

// A path holds no space.
const purposeOf = ({ path, agentId }: FormAddress) => `form ${path} ${agentId}`;

/**
 * Seals what a form comes back with, for the page at a path in one browser. What was typed stays behind where all of it is too
 * long for an address.
 */
export async function sealReturned(
  secrets: SecretStore,
  address: FormAddress,
  { problems, notice }: Returned,
  form: ReadonlyMap<string, string>,
): Promise<string> {
  const values = Object.fromEntries([...form].filter(([name]) => !left.has(name)));
  const seal = (returned: Returned) =>
    secrets.sealText(address.instanceId, purposeOf(address), Buffer.from(JSON.stringify(returned)));
  const all = await seal({ problems, notice, values });
  return all.length <= longest ? all : seal({ problems, notice });
}

/** Undefined for what was not sealed for this page and browser. */
export async function openReturned(
  secrets: SecretStore,
  address: FormAddress,
  sealed: string,
): Promise<Returned | undefined> {
  const clear = await secrets.openText(address.instanceId, purposeOf(address), sealed);
  return clear === undefined ? undefined : JSON.parse(Buffer.from(clear).toString());
}
