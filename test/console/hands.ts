import type { Locator, Page } from "playwright-core";

/** How a person works on a page: by mouse, or by keyboard alone. */
export type Hands = {
  page: Page;
  /** The last button of that name: that of a dialog before that of the page below. */
  press(name: string | RegExp): Promise<void>;
  /** The button of the dialog that was opened. */
  confirm(name: string): Promise<void>;
  follow(name: string | RegExp): Promise<void>;
  /** Opens the dialog of an action. */
  open(name: string | RegExp): Promise<void>;
  /** Types into a field of the dialog that is open, else of the page. */
  fill(label: string | RegExp, text: string): Promise<void>;
  /** Marks a box or chooses one of several ways. */
  check(label: string | RegExp): Promise<void>;
  /** Chooses a value from a list of them. */
  select(label: string | RegExp, value: string): Promise<void>;
  /** Finds an object by a text that names it, and takes the one of that name. */
  pick(label: string | RegExp, text: string, name: string): Promise<void>;
};

/** The dialog where one is open, else the page. */
async function front(page: Page): Promise<Page | Locator> {
  const dialog = page.getByRole("dialog");
  return (await dialog.count()) > 0 ? dialog : page;
}

const fieldIn = (within: Page | Locator, label: string | RegExp): Locator =>
  within.getByLabel(label, typeof label === "string" ? { exact: true } : {}).first();

const inDialog = (page: Page, name: string): Locator =>
  page.getByRole("dialog").getByRole("button", { name, exact: true });

/** What is named by a text alone is named by all of it. */
const named = (name: string | RegExp) =>
  typeof name === "string" ? { name, exact: true } : { name };

export function mouse(page: Page): Hands {
  const field = async (label: string | RegExp) => fieldIn(await front(page), label);
  return {
    page,
    press: (name) => page.getByRole("button", named(name)).last().click(),
    confirm: (name) => inDialog(page, name).click(),
    async open(name) {
      await page.getByRole("button", named(name)).last().click();
      await page.getByRole("dialog").waitFor();
    },
    follow: (name) => page.getByRole("link", named(name)).first().click(),
    fill: async (label, text) => (await field(label)).fill(text),
    check: async (label) => (await field(label)).check(),
    select: async (label, value) => void (await (await field(label)).selectOption(value)),
    async pick(label, text, name) {
      await (await field(label)).fill(text);
      await page.getByRole("option").filter({ hasText: name }).first().click();
    },
  };
}

const mostTabs = 160;

/** Goes by the tabulator key to what is meant. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  // To look after each press takes longer than the press. A key that is held goes on by itself.
  const unseen = Math.max((await target.evaluate(pressesTo)) - 3, 0);
  for (let n = 0; n < unseen; n++) await page.keyboard.down("Tab");
  await page.keyboard.up("Tab");
  for (let n = unseen; n < mostTabs; n++) {
    if (await target.evaluate(isReached)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("the keyboard does not reach it");
}

/** Runs in the page. */
function isReached(element: Element): boolean {
  const { activeElement } = document;
  if (element === activeElement) return true;
  // The tabulator goes to the one of several ways that is chosen; arrows go on from there.
  return (
    element instanceof HTMLInputElement &&
    element.type === "radio" &&
    activeElement instanceof HTMLInputElement &&
    activeElement.name === element.name
  );
}

/** Runs in the page: how many presses lead from what has the focus to an element, as far as the page tells; 0 where it does not. */
function pressesTo(element: Element): number {
  const within = document.querySelector("[role=dialog]") ?? document;
  const stops = [
    ...within.querySelectorAll<HTMLElement>("a, button, input, select, textarea, summary"),
  ]
    .filter((each) => each.tabIndex >= 0 && !each.matches(":disabled"))
    .filter((each) => each.checkVisibility() && !each.matches("[type=radio]:not(:checked)"));
  const [from, to] = [document.activeElement, element].map((each) =>
    stops.indexOf(each as HTMLElement),
  );
  return Math.max((to ?? 0) - (from ?? 0), 0);
}

export function keyboard(page: Page): Hands {
  const enter = async (target: Locator) => {
    await tabTo(page, target);
    await page.keyboard.press("Enter");
  };
  const goTo = async (label: string | RegExp): Promise<Locator> => {
    const target = fieldIn(await front(page), label);
    await tabTo(page, target);
    return target;
  };
  async function fill(label: string | RegExp, text: string): Promise<void> {
    await goTo(label);
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText(text);
  }
  return {
    page,
    press: (name) => enter(page.getByRole("button", named(name)).last()),
    confirm: (name) => enter(inDialog(page, name)),
    async open(name) {
      await enter(page.getByRole("button", named(name)).last());
      await page.getByRole("dialog").waitFor();
    },
    follow: (name) => enter(page.getByRole("link", named(name)).first()),
    fill,
    async check(label) {
      const target = await goTo(label);
      for (let n = 0; !(await target.isChecked()); n++) {
        if (n === 20) throw new Error("the keyboard does not mark it");
        const isBox = (await target.getAttribute("type")) === "checkbox";
        await page.keyboard.press(isBox ? "Space" : "ArrowDown");
      }
    },
    async select(label, value) {
      const target = await goTo(label);
      for (let n = 0; (await target.inputValue()) !== value; n++) {
        if (n === 40) throw new Error("the keyboard does not choose it");
        await page.keyboard.press("ArrowDown");
      }
    },
    async pick(label, text, name) {
      await fill(label, text);
      await page.getByRole("option").filter({ hasText: name }).first().waitFor();
      const chosen = page.locator('[role=option][aria-selected="true"]');
      for (let n = 0; !(await chosen.textContent())?.includes(name); n++) {
        if (n === 40) throw new Error("the keyboard does not choose it");
        await page.keyboard.press("ArrowDown");
      }
      await page.keyboard.press("Enter");
    },
  };
}
