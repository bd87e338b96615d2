import { chromium } from "playwright-core";

// A Chromium for `browser.ts`, which names it as the argument and is told where to reach it. Ends when its input does, so
// it never outlives the test.

const [executablePath = "", ...more] = process.argv.slice(2);
// The sandbox of Chromium does not run as root.
const server = await chromium.launchServer({ executablePath, args: ["--no-sandbox", ...more] });
process.stdout.write(`${server.wsEndpoint()}\n`);
process.stdin.resume().once("end", () => void server.close().finally(() => process.exit()));
