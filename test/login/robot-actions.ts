import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Shown, UserAgent } from "../support/user-agent.ts";

/** Somebody whom the robot plays: what they type into fields, by name, and what their browser makes of options of WebAuthn. */
export type Played = {
  values: Readonly<Record<string, (page: Shown) => string | Promise<string>>>;
  credential(kind: "get" | "create", options: JsonObject): JsonObject;
};

/** Where the robot is: the service, and what a page does by itself. */
export type Surroundings = {
  issuer: string;
  /** A browser that is sent to a provider logs in there, and comes back. */
  onward?(agent: UserAgent, shown: Shown): Promise<Shown>;
};

/** A link, or a button with what is in its form; `isFilled` for one that is pressed after its fields were filled in. */
export type Action =
  | { kind: "link"; href: string; label: string; isSearch?: true }
  | {
      kind: "button";
      label: string;
      action: string;
      fields: Readonly<Record<string, string>>;
      inputs: readonly string[];
      isFilled: boolean;
      /** What the script of the page asks the browser for before the form is sent. */
      passkey?: { kind: "get" | "create"; options: JsonObject };
    };

type Button = Extract<Action, { kind: "button" }>;

/** Follows the link or presses the button that a page is for: its first, or the one of a label that is preferred. */
export async function goOn(
  agent: UserAgent,
  person: Played,
  world: Surroundings,
  preferred: RegExp,
): Promise<Shown> {
  const actions = actionsOf(agent.last, world);
  const action = actions.find(({ label }) => preferred.test(label)) ?? actions[0];
  assert.ok(action !== undefined, `no way on: ${agent.last.url}`);
  return act(agent, person, action, world);
}

/**
 * @param page the one that the action is of, where others were opened since
 * @throws AssertionError for a form that is answered with a page
 */
export async function act(
  agent: UserAgent,
  person: Played,
  action: Action,
  world: Surroundings,
  page = agent.last,
): Promise<Shown> {
  if (action.kind === "link") return onward(world, agent, await agent.open(action.href));
  const body = await bodyOf(page, person, action);
  const headers = { origin: world.issuer, "sec-fetch-site": "same-origin" };
  const shown = await agent.open(new URL(action.action, page.url), {
    method: "POST",
    body,
    headers,
  });
  assert.ok(
    shown.isRedirected || shown.status >= 400,
    `answered with a page: ${action.action}, ${action.label}`,
  );
  return onward(world, agent, shown);
}

async function bodyOf(page: Shown, person: Played, { fields, inputs, isFilled, passkey }: Button) {
  const body = new URLSearchParams(fields);
  for (const name of inputs) {
    body.set(name, isFilled ? ((await person.values[name]?.(page)) ?? "") : "");
  }
  if (isFilled && passkey !== undefined) {
    const credential = person.credential(passkey.kind, passkey.options);
    body.set("credential", JSON.stringify(credential));
  }
  return body;
}

export const onward = async (
  world: Pick<Surroundings, "onward">,
  agent: UserAgent,
  shown: Shown,
): Promise<Shown> => (await world.onward?.(agent, shown)) ?? shown;

/** All that can be done on a page: its buttons, and its links within the service. */
export function actionsOf(
  { html, url }: Shown,
  { issuer }: Pick<Surroundings, "issuer">,
): Action[] {
  const links = [...html.matchAll(/<a ([^>]*)>([\s\S]*?)<\/a>/g)].flatMap(
    ([, tag = "", text = ""]) => {
      const href = new URL(valueIn(tag, "href"), url);
      const isOther =
        // This page itself, a file.
        /aria-current=|class="skip"/.test(tag) ||
        href.origin !== issuer ||
        href.searchParams.has("as");
      return isOther ? [] : [{ kind: "link" as const, href: href.href, label: textOf(text) }];
    },
  );
  const forms = [...html.matchAll(/<form ([^>]*)>([\s\S]*?)<\/form>/g)].flatMap(
    ([, tag = "", content = ""]) => {
      // Another language.
      if (content.includes('name="ui_locales"')) return [];
      return tag.includes('method="get"') ? findingOf(tag, content, url) : buttonsOf(tag, content);
    },
  );
  return [...forms, ...links];
}

/** A form that asks for a part of a list is a link to each: to what has no letter typed, and to what nothing has. */
function findingOf(form: string, content: string, at: URL): Action[] {
  const inputs = [...content.matchAll(/<input[^>]*>/g)].map(([tag]) => tag);
  const fixed = inputs.filter((tag) => tag.includes('type="hidden"'));
  const asked = inputs.filter((tag) => !fixed.includes(tag)).map((tag) => valueIn(tag, "name"));
  return ["", "nothing has this name"].map((text) => {
    const href = new URL(valueIn(form, "action"), at);
    for (const tag of fixed) href.searchParams.set(valueIn(tag, "name"), valueIn(tag, "value"));
    for (const name of asked) href.searchParams.set(name, text);
    return { kind: "link", href: href.href, label: `find "${text}"`, isSearch: true };
  });
}

/** The buttons of a form: with its fields filled in and empty, and for each of its choices. */
function buttonsOf(form: string, content: string): Action[] {
  const inputs = [...content.matchAll(/<input[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => tag.includes(" name="));
  const pairOf = (tag: string) => [valueIn(tag, "name"), valueIn(tag, "value")] as const;
  const is = (type: string) => (tag: string) => tag.includes(`type="${type}"`);
  const [radios, boxes] = [inputs.filter(is("radio")), inputs.filter(is("checkbox"))];
  // What is hidden and empty is for a script to fill in.
  const hidden = inputs.filter((tag) => is("hidden")(tag) && valueIn(tag, "value") !== "");
  const fixed = [...hidden.map(pairOf), ...selectedIn(content)];
  const typed = inputs.filter((tag) => ![...radios, ...boxes, ...hidden].includes(tag));
  const isChosen = (tag: string) => / checked(?:\s|=|>)/.test(tag);
  const chosen = radios.filter(isChosen).map(pairOf);
  const ticked = boxes.map(pairOf);

  const passkey = passkeyOf(form);
  const names = typed.map((tag) => valueIn(tag, "name"));
  const isTyped = names.length > 0 && !form.includes("data-passkey");
  return [...content.matchAll(/<button ([^>]*type="submit"[^>]*)>([\s\S]*?)<\/button>/g)].flatMap(
    ([, tag = "", text = ""]) => {
      const own = valueIn(tag, "name");
      const press = (
        isFilled: boolean,
        choices: readonly (readonly [string, string])[],
      ): Action => ({
        kind: "button",
        label: textOf(text),
        action: valueIn(form, "action"),
        fields: {
          ...Object.fromEntries([...fixed, ...choices]),
          ...(own === "" ? {} : { [own]: valueIn(tag, "value") }),
        },
        inputs: names,
        isFilled,
        ...(passkey && { passkey }),
      });
      return [
        press(true, [...chosen, ...ticked]),
        ...(isTyped || ticked.length > 0 ? [press(false, chosen)] : []),
        ...radios
          .filter((radio) => !isChosen(radio))
          .map((radio) => press(true, [...chosen, ...ticked, pairOf(radio)])),
      ];
    },
  );
}

/** The names of lists, with what is chosen of each. */
const selectedIn = (content: string): (readonly [string, string])[] =>
  [...content.matchAll(/<select ([^>]*)>([\s\S]*?)<\/select>/g)].map(
    ([, tag = "", options = ""]) => {
      const [chosen = ""] = /<option [^>]*\bselected\b[^>]*>/.exec(options) ?? [];
      return [valueIn(tag, "name"), valueIn(chosen, "value")];
    },
  );

function passkeyOf(form: string): Button["passkey"] {
  const options = valueIn(form, "data-options") || valueIn(form, "data-prepare");
  if (options === "") return undefined;
  const kind = form.includes('data-passkey="get"') ? "get" : "create";
  return { kind, options: JSON.parse(options) };
}

const valueIn = (tag: string, name: string) =>
  unescape(new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(tag)?.[1] ?? "");

const textOf = (markup: string): string => markup.replaceAll(/<[^>]*>/g, " ").trim();

const unescape = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
