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
