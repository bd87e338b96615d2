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
