import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { userAgent } from "../support/user-agent.ts";

// The attack of `hostile.ts`, as a process: `hostile-attack.ts <url> <port>`, until it is told to stop.
const [url = "", port = ""] = process.argv.slice(2);
const connections = 120;
const stranger = "203.0.113.66";
const headers = { "x-forwarded-for": stranger };
let isEnding = false;

/** One connection of the attack; tells how often it was refused for its budget. */
async function attack(nth: number): Promise<number> {
  const kinds = [guess, guess, guess, begin, sendXml, holdBody, call, ask] as const;
  const kind = kinds[nth % kinds.length] ?? guess;
  let refused = 0;
  while (!isEnding) {
    const status = await kind().catch(() => 0);
    if (status === 429) refused += 1;
    // A stranger has a machine of their own; here it is the one that serves.
    await delay(20);
  }
  return refused;
}

let guesses = 0;
// Names that nobody has: whose name is guessed at waits in browsers that have not logged in as them before (J12).
async function guess(): Promise<number> {
  const agent = userAgent(url, new Map(), headers);
  const first = await agent.open("/ui/login");
  if (first.status !== 200) return first.status;
  await agent.submit({ login_name: `nobody-${guesses++}` });
  return (await agent.submit({ password: "wrong" })).status;
}

async function begin(): Promise<number> {
  const query = new URLSearchParams({ client_id: "x", state: "y".repeat(4_000) });
  return (await fetch(`${url}/oauth/v2/authorize?${query}`, { headers, redirect: "manual" }))
    .status;
}

const xml = Buffer.from(`<r>${"<a/>".repeat(32_000)}</r>`).toString("base64");
const form = new URLSearchParams({ SAMLResponse: xml, RelayState: "x" }).toString();
const typed = { ...headers, "content-type": "application/x-www-form-urlencoded" };

async function sendXml(): Promise<number> {
  const sent = { method: "POST", headers: typed, body: form };
  return (await fetch(`${url}/idps/1/saml/acs`, sent)).status;
}

/** A call with a token that nobody has. */
async function call(): Promise<number> {
  const sent = { ...headers, authorization: "Bearer nobody" };
  return (await fetch(`${url}/resources/v3alpha/users/1`, { headers: sent })).status;
}

/** A request of a client whose secret is wrong. */
async function ask(): Promise<number> {
  const sent = { ...headers, authorization: `Basic ${btoa("nobody:wrong")}` };
  const body = new URLSearchParams({ token: "x" });
  return (await fetch(`${url}/oauth/v2/introspect`, { method: "POST", headers: sent, body }))
    .status;
}

/** A body of which a byte comes now and then. */
async function holdBody(): Promise<number> {
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => {});
  const type = "content-type: application/x-www-form-urlencoded\r\ncontent-length: 60000\r\n";
  const from = `x-forwarded-for: ${stranger}\r\n`;
  socket.write(`POST /oauth/v2/token HTTP/1.1\r\nhost: localhost:${port}\r\n${from}${type}\r\n`);
  while (!isEnding && socket.writable) {
    socket.write("a");
    await delay(1_000);
  }
  socket.destroy();
  return 0;
}

const attackers = Array.from({ length: connections }, (_, nth) => attack(nth));
process.once("message", () => {
  isEnding = true;
  void Promise.all(attackers).then((all) =>
    process.send?.(all.reduce((sum, each) => sum + each, 0)),
  );
});
