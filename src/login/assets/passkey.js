// Passkeys on the pages of the login. A form with `data-passkey` holds options of WebAuthn; pressing its button asks the
// browser for a credential, writes it into the field `credential` and sends the form.

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) =>
    letter.charCodeAt(0),
  );

const toText = (bytes) =>
  btoa(Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const withBytes = (list = []) => list.map((one) => ({ ...one, id: toBytes(one.id) }));

function toRequest(options) {
  const { challenge, allowCredentials } = options;
  return {
    ...options,
    challenge: toBytes(challenge),
    allowCredentials: withBytes(allowCredentials),
  };
}

function toCreation(options) {
  const { challenge, user, excludeCredentials } = options;
  return {
    ...options,
    challenge: toBytes(challenge),
    user: { ...user, id: toBytes(user.id) },
    excludeCredentials: withBytes(excludeCredentials),
  };
}

function toJson(credential) {
  const { response } = credential;
  const parts = [
    "clientDataJSON",
    "attestationObject",
    "authenticatorData",
    "signature",
    "userHandle",
  ];
  const written = parts
    .filter((part) => response[part])
    .map((part) => [part, toText(response[part])]);
  return JSON.stringify({
    id: credential.id,
    rawId: toText(credential.rawId),
    type: credential.type,
    response: { ...Object.fromEntries(written), transports: response.getTransports?.() },
    authenticatorAttachment: credential.authenticatorAttachment ?? undefined,
    clientExtensionResults: credential.getClientExtensionResults(),
  });
}

// One request at a time: the browser refuses a second one while the list at the field waits.
let waiting = new AbortController();

async function ask(form, mediation) {
  waiting.abort();
  waiting = new AbortController();
  const options = JSON.parse(form.dataset.options);
  const common = { signal: waiting.signal, ...(mediation && { mediation }) };
  const credential =
    form.dataset.passkey === "create"
      ? await navigator.credentials.create({ ...common, publicKey: toCreation(options) })
      : await navigator.credentials.get({ ...common, publicKey: toRequest(options) });
  form.elements.namedItem("credential").value = toJson(credential);
  // Not form.submit(): a button of that name would hide it.
  HTMLFormElement.prototype.submit.call(form);
}

async function offer(form) {
  const problem = form.querySelector("[data-passkey-problem]");
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    problem.textContent = "";
    ask(form).catch(() => {
      problem.textContent = form.dataset.failed;
    });
  });
  if (form.dataset.conditional && (await PublicKeyCredential.isConditionalMediationAvailable?.())) {
    // Nobody asked for it, so nobody is told when it fails.
    ask(form, "conditional").catch(() => {});
  }
}

// A browser that makes a passkey by itself takes a moment, or never ends.
const longestMs = 2_000;

// Has the browser make a passkey of which nobody asks its user, and goes on in any case.
async function prepare(form) {
  const ending = new AbortController();
  const late = new Promise((resolve) => {
    setTimeout(resolve, longestMs);
  });
  try {
    const publicKey = toCreation(JSON.parse(form.dataset.prepare));
    const common = { mediation: "conditional", signal: ending.signal };
    const creation = navigator.credentials.create({ ...common, publicKey });
    const credential = await Promise.race([creation, late]);
    if (credential) form.elements.namedItem("credential").value = toJson(credential);
  } catch {
    // Nobody asked for it, so nobody is told.
  }
  ending.abort();
  HTMLFormElement.prototype.submit.call(form);
}

// Says whether this browser makes passkeys by itself.
async function say(field) {
  const abilities = await PublicKeyCredential.getClientCapabilities?.();
  if (abilities?.conditionalCreate) field.value = "true";
}

// Tells the browser which passkeys count and what their owner is called now. None is ever called unknown: a page may be older than
// a passkey. A browser that cannot be told goes on as before.
async function tell(element) {
  const { rpId, userId, allAcceptedCredentialIds, name, displayName } = JSON.parse(
    element.dataset.passkeysKnown,
  );
  const accepted = { rpId, userId, allAcceptedCredentialIds };
  await PublicKeyCredential.signalAllAcceptedCredentials?.(accepted);
  await PublicKeyCredential.signalCurrentUserDetails?.({ rpId, userId, name, displayName });
}

const isSupported =
  globalThis.PublicKeyCredential !== undefined && navigator.credentials !== undefined;
if (isSupported) {
  for (const form of document.querySelectorAll("form[data-passkey]")) void offer(form);
  for (const form of document.querySelectorAll("form[data-prepare]")) void prepare(form);
  for (const field of document.querySelectorAll("[data-prepares-passkeys]")) {
    say(field).catch(() => {});
  }
  for (const element of document.querySelectorAll("[data-passkeys-known]")) {
    tell(element).catch(() => {});
  }
} else {
  for (const text of document.querySelectorAll("[data-passkey-unsupported]")) text.hidden = false;
}
