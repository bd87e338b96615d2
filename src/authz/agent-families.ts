/** The family of a browser or program, and of the operating system; empty where nothing tells. */
export type Families = { browser: string; system: string };

type Headers = { get(name: string): string | undefined };

// Nobody's name stands further behind; and whoever sends more is not looked at longer.
const longest = 512;
const mostKnown = 1_000;
const other = "other";

// The first that is found counts: most browsers name others, from which they descend, as well.
const browsers: readonly [token: string, family: string][] = [
  ["edg/", "Edge"],
  ["edga/", "Edge"],
  ["edgios/", "Edge"],
  ["edge/", "Edge"],
  ["opr/", "Opera"],
  ["opt/", "Opera"],
  ["opera", "Opera"],
  ["samsungbrowser/", "Samsung Internet"],
  ["yabrowser/", "Yandex Browser"],
  ["vivaldi/", "Vivaldi"],
  ["brave/", "Brave"],
  ["duckduckgo/", "DuckDuckGo"],
  ["ddg/", "DuckDuckGo"],
  ["fxios/", "Firefox"],
  ["firefox/", "Firefox"],
  ["crios/", "Chrome"],
  ["headlesschrome/", "Chrome"],
  ["chromium/", "Chrome"],
  ["chrome/", "Chrome"],
  ["trident/", "Internet Explorer"],
  ["msie ", "Internet Explorer"],
  ["version/", "Safari"],
  ["safari/", "Safari"],
  ["connect-", "Connect"],
  ["grpc-", "gRPC"],
  ["curl/", "curl"],
  ["wget/", "Wget"],
  ["okhttp/", "OkHttp"],
  ["postmanruntime/", "Postman"],
  ["insomnia/", "Insomnia"],
  ["python", "Python"],
  ["go-http-client/", "Go"],
  ["java/", "Java"],
  ["apache-httpclient/", "Java"],
  ["dart/", "Dart"],
  [".net", ".NET"],
  ["dotnet", ".NET"],
  ["guzzlehttp/", "PHP"],
  ["ruby", "Ruby"],
  ["axios/", "Node.js"],
  ["undici", "Node.js"],
  ["node", "Node.js"],
  ["cfnetwork/", "Apple networking"],
  ["bot", "Bot"],
  ["crawler", "Bot"],
  ["spider", "Bot"],
];

// Names in `Sec-CH-UA`, where those are told that the user agent string hides.
const brands: readonly [token: string, family: string][] = [
  ['"brave"', "Brave"],
  ['"microsoft edge"', "Edge"],
  ['"opera"', "Opera"],
  ['"vivaldi"', "Vivaldi"],
  ['"samsung internet"', "Samsung Internet"],
  ['"yandex"', "Yandex Browser"],
];

const systems: readonly [token: string, family: string][] = [
  ["iphone", "iOS"],
  ["ipad", "iOS"],
  ["ipod", "iOS"],
  ['"ios"', "iOS"],
  ["android", "Android"],
  ["windows", "Windows"],
  ["cros ", "ChromeOS"],
  ["chrome os", "ChromeOS"],
  ["chromeos", "ChromeOS"],
  ["mac os x", "macOS"],
  ["macintosh", "macOS"],
  ["macos", "macOS"],
  ["darwin", "macOS"],
  ["freebsd", "FreeBSD"],
  ["linux", "Linux"],
  ["x11", "Linux"],
];

const known = new Map<string, Families>();

/**
 * The families that a request tells of (L4), by `User-Agent` and, where it is sent, by client hints. Nothing of what
 * was sent is kept but one of these names: versions and devices would tell people apart.
 */
export function familiesOf(headers: Headers): Families {
  const agent = headers.get("user-agent") ?? "";
  const brand = headers.get("sec-ch-ua") ?? "";
  const platform = headers.get("sec-ch-ua-platform") ?? "";
  if (agent.length + brand.length + platform.length > longest) {
    return familiesIn(agent, brand, platform);
  }
  const name = `${agent}\n${brand}\n${platform}`;
  let families = known.get(name);
  if (families === undefined) {
    families = familiesIn(agent, brand, platform);
    if (known.size >= mostKnown) known.clear();
    known.set(name, families);
  }
  return families;
}

function familiesIn(agent: string, brand: string, platform: string): Families {
  const text = bounded(agent);
  const browser = first(brands, bounded(brand)) ?? first(browsers, text);
  const system = first(systems, bounded(platform)) ?? first(systems, text);
  const unnamed = text === "" ? "" : other;
  return { browser: browser ?? unnamed, system: system ?? unnamed };
}

const bounded = (text: string): string => text.slice(0, longest).toLowerCase();

const first = (
  families: readonly [token: string, family: string][],
  text: string,
): string | undefined =>
  text === "" ? undefined : families.find(([token]) => text.includes(token))?.[1];
