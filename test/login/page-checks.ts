import type { Page } from "playwright-core";

/** Runs in a page: what is too wide, too small to press, or has no label. */
export function faultsOfLayout(): string[] {
  const isSeen = (element: Element) =>
    element.checkVisibility() && element.localName !== "noscript";
  const tag = (element: Element) => element.outerHTML.slice(0, 100);
  const faults: string[] = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) faults.push(`is ${scrollWidth} wide in ${clientWidth}`);
  for (const element of document.querySelectorAll("body *:not(.sheet)")) {
    const isOff = isSeen(element) && element.getBoundingClientRect().right > clientWidth + 0.5;
    if (isOff && getComputedStyle(element).position !== "absolute") {
      faults.push(`reaches out to the right: ${tag(element)}`);
    }
  }
  for (const element of document.querySelectorAll("button, input, a, summary")) {
    if (!isSeen(element) || element.classList.contains("skip")) continue;
    // A choice is pressed by its label.
    const pressed = element.matches('input:is([type="radio"], [type="checkbox"])')
      ? element.closest("label")
      : element;
    const { width, height } = (pressed ?? element).getBoundingClientRect();
    if (width < 44 || height < 44) faults.push(`is ${width} x ${height}: ${tag(element)}`);
  }
  for (const input of document.querySelectorAll("input")) {
    if (isSeen(input) && !input.labels?.length) faults.push(`has no label: ${tag(input)}`);
  }
  return faults;
}

/** What the tabulator reaches, and what it should, each as its place in the document. */
export async function reachedByTab(page: Page): Promise<{ reached: string[]; wanted: string[] }> {
  const wanted = await page.evaluate(() => {
    const all = [...document.querySelectorAll<HTMLElement>("a[href], button, input, summary")];
    // Of a group of choices the tabulator reaches the one that is chosen; the arrows reach the others.
    const others = 'input[type="radio"]:not(:checked)';
    const seen = all.filter((element) => element.checkVisibility() && !element.matches(others));
    for (const [at, element] of seen.entries()) element.dataset["place"] = String(at);
    (document.activeElement as HTMLElement | null)?.blur();
    const reached: string[] = [];
    Reflect.set(globalThis, "reachedByTab", reached);
    document.addEventListener("focusin", ({ target }) => {
      const place = target instanceof HTMLElement ? target.dataset["place"] : undefined;
      if (place !== undefined && !reached.includes(place)) reached.push(place);
    });
    return seen.map((element) => element.dataset["place"] ?? "");
  });
  // A key that is held: each press and release are two ways to the browser.
  for (const _ of Array.from({ length: wanted.length + 2 })) await page.keyboard.down("Tab");
  await page.keyboard.up("Tab");
  const reached = await page.evaluate(() => Reflect.get(globalThis, "reachedByTab") as string[]);
  return { reached, wanted };
}
