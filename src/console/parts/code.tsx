import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { useState } from "react";
import { rest } from "#schema-options";
import { clientName, type Sample, shellQuoted } from "../declared/declare.ts";
import { keep } from "../keep-file.ts";
import { t } from "../page-data.ts";
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

/** Texts to copy, with what they are for above them. */
export function Samples({ lead, samples }: { lead: string; samples: readonly Sample[] }) {
  return (
    <section className={style["code"]}>
      <p>{t(lead)}</p>
      {samples.map((sample) => {
        const name = "word" in sample ? t(sample.word) : sample.name;
        return <Copyable key={name} name={name} text={sample.text} />;
      })}
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

/** A text with a button that copies it, and one that saves it where it is a file. */
export function Copyable({
  name,
  text,
  fileName,
}: {
  name: string;
  text: string;
  fileName?: string | undefined;
}) {
  const [word, setWord] = useState("copy");
  // Where the browser forbids it, the text can still be marked by hand.
  const copy = () =>
    void navigator.clipboard.writeText(text).then(
      () => setWord("copied"),
      () => setWord("failed"),
    );
  return (
    <figure className={style["copyable"]}>
      <figcaption>
        <span>{name}</span>
        {fileName !== undefined && (
          <button
            type="button"
            className={style["button"]}
            onClick={() => keep(fileName, new Blob([text]))}
          >
            {t("saveFile")}
          </button>
        )}
        <button
          type="button"
          className={style["button"]}
          aria-label={`${t("copy")}: ${name}`}
          onClick={copy}
        >
          {t(word)}
        </button>
      </figcaption>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
