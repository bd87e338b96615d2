// Shows a password while its button is pressed in.
for (const button of document.querySelectorAll("button[data-shows]")) {
  const field = document.getElementById(button.dataset.shows);
  button.hidden = false;
  button.addEventListener("click", () => {
    const isShown = field.type === "text";
    field.type = isShown ? "password" : "text";
    button.setAttribute("aria-pressed", String(!isShown));
  });
  // Browsers remember what is typed into text fields.
  field.form.addEventListener("submit", () => {
    field.type = "password";
  });
}

// Copies what an element shows: the items of a list by lines, else its text without the spaces between its parts.
async function copy(button) {
  const source = document.getElementById(button.dataset.copies);
  const items = [...source.querySelectorAll("li")].map((item) => item.textContent);
  const text = items.length > 0 ? items.join("\n") : source.textContent.replaceAll(/\s/g, "");
  await navigator.clipboard.writeText(text);
  button.textContent = button.dataset.done;
}

if (navigator.clipboard !== undefined) {
  for (const button of document.querySelectorAll("button[data-copies]")) {
    button.hidden = false;
    button.addEventListener("click", () => void copy(button));
  }
}

for (const button of document.querySelectorAll("button[data-prints]")) {
  button.hidden = false;
  button.addEventListener("click", () => globalThis.print());
}

// Ticks the rules that a password which is being typed meets: the same as the service's. Whether it is easy to guess only that says.
const rules = {
  length: (text, least) => [...text].length >= least,
  uppercase: (text) => /\p{Lu}/u.test(text),
  lowercase: (text) => /\p{Ll}/u.test(text),
  number: (text) => /\p{Nd}/u.test(text),
  symbol: (text) => /[^\p{L}\p{N}\s]/u.test(text),
};

for (const list of document.querySelectorAll("[data-rules-of]")) {
  const field = document.getElementById(list.dataset.rulesOf);
  field.addEventListener("input", () => {
    const text = field.value.normalize("NFC");
    for (const { dataset, classList } of list.children) {
      classList.toggle("met", rules[dataset.rule](text, Number(dataset.least)));
    }
  });
}
