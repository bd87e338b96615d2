/** Has the browser keep a file. */
export function keep(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
  URL.revokeObjectURL(address);
}
