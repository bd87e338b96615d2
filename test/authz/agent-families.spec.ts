// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { familiesOf } from "../../src/authz/agent-families.ts";

const of = (sent: Record<string, string>) => {
  const { browser, system } = familiesOf({ get: (name) => sent[name] });
  return [browser, system];
};
const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
const safari = "AppleWebKit/605.1.15 (KHTML, like Gecko)";

describe("families of browsers and systems", () => {
  for (const [agent, browser, system] of [
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/131.0.0.0 Safari/537.36`,
      "Chrome",
      "Windows",
    ],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/131.0.0.0 Safari/537.36 Edg/131.0`,
      "Edge",
      "Windows",
    ],
    [
      `Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/131.0.0.0 Safari/537.36 OPR/116.0`,
      "Opera",
      "Linux",
    ],
    [
      `Mozilla/5.0 (Linux; Android 14; SM-S921B) ${webkit} SamsungBrowser/27.0 Chrome/125.0 Mobile Safari/537.36`,
      "Samsung Internet",
      "Android",
    ],
    [
      `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/131.0.0.0 Safari/537.36`,
      "Chrome",
      "ChromeOS",
    ],
    [
      "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
      "Firefox",
      "Linux",
    ],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${safari} FxiOS/133.0 Mobile/15E148 Safari/605.1.15`,
      "Firefox",
      "iOS",
    ],
    [
      `Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X) ${safari} CriOS/131.0 Mobile/15E148 Safari/604.1`,
      "Chrome",
      "iOS",
    ],
    [
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${safari} Version/18.1 Safari/605.1.15`,
      "Safari",
      "macOS",
    ],
    [
      "Mozilla/5.0 (Windows NT 10.0; Trident/7.0; rv:11.0) like Gecko",
      "Internet Explorer",
      "Windows",
    ],
    ["curl/8.5.0", "curl", "other"],
    ["okhttp/4.12.0", "OkHttp", "other"],
    ["grpc-node-js/1.12.5", "gRPC", "other"],
    ["connect-es/2.0.0", "Connect", "other"],
    ["Python-urllib/3.12", "Python", "other"],
    ["something of our own", "other", "other"],
    ["", "", ""],
  ] as const) {
    it(`are told from the user agent: ${agent.slice(-40)}`, () => {
      assert.deepEqual(of({ "user-agent": agent }), [browser, system]);
    });
  }

  it("are told from client hints, where those say more", () => {
    const agent = `Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/131.0.0.0 Safari/537.36`;
    const hints = {
      "sec-ch-ua": '"Brave";v="131", "Chromium";v="131", "Not_A Brand";v="24"',
      "sec-ch-ua-platform": '"macOS"',
    };
    assert.deepEqual(of({ "user-agent": agent, ...hints }), ["Brave", "macOS"]);
    assert.deepEqual(of({ "user-agent": agent, "sec-ch-ua": "?", "sec-ch-ua-platform": "?" }), [
      "Chrome",
      "Linux",
    ]);
  });

  it("of whatever length take no longer than those of 512 characters, and are none of ours in the end", () => {
    const long = "(".repeat(1 << 20);
    const began = process.cpuUsage();
    for (let times = 0; times < 100; times += 1) {
      assert.deepEqual(of({ "user-agent": `${long}Firefox/1` }), ["other", "other"]);
    }
    const { user } = process.cpuUsage(began);
    assert.ok(user < 1_000_000, `${user} µs`);
  });
});
