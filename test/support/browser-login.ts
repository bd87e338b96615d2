import type { APIResponse, Page } from "playwright-core";
import { password } from "./login.ts";
import { formOf } from "./user-agent.ts";

/**
 * Logs a browser in without opening a page, which takes a third of the time that the pages of a log-in take: it has the cookies then.
 *
 * @param from an address that leads whoever is not logged in to the pages of the log-in
 * @returns where the log-in leads
 */
export async function logInUnseen(page: Page, from: string, loginName: string): Promise<URL> {
  const { request } = page.context();
  const { origin } = new URL(from);
  const submit = async (shown: APIResponse, values: Record<string, string>) => {
    const { action, fields } = formOf(await shown.text());
    const headers = { origin, "sec-fetch-site": "same-origin" };
    const address = new URL(action, shown.url()).href;
    return request.post(address, { form: { ...fields, ...values }, headers });
  };
  const named = await submit(await request.get(from), { login_name: loginName });
  const shown = await submit(named, { password });
  return new URL(shown.url());
}
