/**
 * The form in which an address is stored: without quotes and quoted pairs that it does not need, so that one mailbox has one
 * spelling. What is no quoted local part stays as it is.
 *
 * @param address one that the rule `mail_address` of the schema lets pass
 * Source: RFC 5321 section 4.1.2, RFC 2822 section 3.2.5.
 */
export function storedMailAddress(address: string): string {
  if (!address.startsWith('"')) return address;
  const at = address.lastIndexOf("@");
  const local = address.slice(1, at - 1).replaceAll(/\\(.)/g, "$1");
  const stored = dotAtom.test(local) ? local : `"${local.replaceAll(/["\\]/g, "\\$&")}"`;
  return stored + address.slice(at);
}

const dotAtom = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
