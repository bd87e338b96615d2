import { html, type Html, type Value } from "../../html.ts";
import { short } from "./short.ts";

/** A person as pages show them. */
export type Account = { loginName: string; displayName?: string | undefined };

/** Who this page is about, and what to do when it is somebody else. */
export const accountLine = (account: Account, action?: Value): Html =>
  html`<div class="account">${accountText(account, action)}</div>`;

/** A person; what stands at the end moves below where there is no room. */
export const accountText = ({ loginName, displayName }: Account, end?: Value): Html =>
  html`<span class="avatar" aria-hidden="true">${initial(displayName ?? loginName)}</span>
<span class="line"><span class="who"><bdi class="name">${displayName ?? loginName}</bdi>${displayName !== undefined && displayName !== loginName && html`<bdi class="login">${loginName}</bdi>`}</span>${end}</span>`;

/** A person as lists show them. */
export const shortAccount = ({ loginName, displayName }: Account): Account => ({
  loginName: short(loginName),
  ...(displayName === undefined ? {} : { displayName: short(displayName) }),
});

// The first letter as people see it, whatever it is made of.
const initial = (name: string): string =>
  [...new Intl.Segmenter().segment(name.trim())][0]?.segment.toUpperCase() ?? "";
