import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { rest } from "#schema-options";
import { clientName, shellQuoted } from "../declared/declare.ts";
import { t } from "../page-data.ts";
import { Copyable } from "./copyable.tsx";
import style from "./parts.module.css";

const camel = (name: string): string =>
  name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** A request as a client in TypeScript takes it: fields by their names there, what is free JSON as it is. */
function asTypeScript(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((each) => asTypeScript(each));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      camel(name),
      name === "data" ? each : asTypeScript(each),
    ]),
  );
}

/** A call of the API, for each way to call it. */
export function AsCode({ method, request }: { method: DescMethod; request: JsonObject }) {
  const { origin, host, protocol } = location;
  const service = method.parent.typeName;
  const plain = protocol === "http:" ? "-plaintext " : "";
  const client = clientName(service);
  const called = `${client}.${method.localName}(${JSON.stringify(asTypeScript(request))})`;
  const ways = [
    ["curl", curlOf(origin, `${service}.${method.name}`, request)],
    [
      "grpcurl",
      `grpcurl ${plain}-H "Authorization: Bearer $TOKEN" -d ${shellQuoted(JSON.stringify(request))} ${host} ${service}/${method.name}`,
    ],
    [
      "TypeScript",
      `const { ${client} } = createClient({ baseUrl: "${origin}", token });\nawait ${called};`,
    ],
  ] as const;
  return (
    <section className={style["code"]}>
      <p>{t("codeLead")}</p>
      {ways.map(([name, text]) => (
        <Copyable key={name} name={name} text={text} />
      ))}
    </section>
  );
}

const textOf = (value: JsonValue): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);

/** The call over REST: what is neither in the path nor in the body is in the query. */
function curlOf(origin: string, name: string, request: JsonObject): string {
  const [verb, pattern, body] = rest[name] ?? ["POST", "", "*"];
  const others = { ...request };
  const path = pattern.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = others[field];
    delete others[field];
    return encodeURIComponent(typeof value === "string" ? value : "");
  });
  const sent = body === "*" ? others : others[body];
  delete others[body];
  const query = new URLSearchParams(
    body === "*" ? {} : Object.entries(others).map(([field, value]) => [field, textOf(value)]),
  );
  const address = `${origin}${path}${query.size === 0 ? "" : `?${query}`}`;
  const data =
    body === "" || sent === undefined
      ? ""
      : ` -H "Content-Type: application/json" -d ${shellQuoted(JSON.stringify(sent))}`;
  const how = verb === "GET" ? "" : `-X ${verb} `;
  return `curl ${how}-H "Authorization: Bearer $TOKEN"${data} ${shellQuoted(address)}`;
}
