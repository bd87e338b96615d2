import { useState } from "react";
import { t } from "../told.ts";
import style from "./parts.module.css";

/** A read of the API, as REST and RPC ask for it. */
export type Read = { rest: string; service: string; method: string; id: string };

const clientOf = (service: string): string => {
  const name = service.slice(service.lastIndexOf(".") + 1).replace(/Service$/, "");
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
};

/** The page as a call of the API, for each way to call it. */
export function AsCode({ read }: { read: Read }) {
  const { rest, service, method, id } = read;
  const { origin, host, protocol } = location;
  const plain = protocol === "http:" ? "-plaintext " : "";
  const request = JSON.stringify({ id });
  const called = `${method.charAt(0).toLowerCase()}${method.slice(1)}`;
  const ways = [
    [
      "curl",
      `curl -H "Authorization: Bearer $TOKEN" ${quoted(`${origin}/resources/v3alpha${rest}`)}`,
    ],
    [
      "grpcurl",
      `grpcurl ${plain}-H "Authorization: Bearer $TOKEN" -d ${quoted(request)} ${host} ${service}/${method}`,
    ],
    [
      "TypeScript",
      `const { ${clientOf(service)} } = createClient({ baseUrl: "${origin}", token });\nawait ${clientOf(service)}.${called}(${request});`,
    ],
  ] as const;
  return (
    <section className={style["code"]}>
      <p>{t("codeLead")}</p>
      {ways.map(([name, text]) => (
        <Way key={name} name={name} text={text} />
      ))}
    </section>
  );
}

/** As one word of a shell, whatever stands in it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function Way({ name, text }: { name: string; text: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <figure>
      <figcaption>
        <span>{name}</span>
        <button
          type="button"
          className={style["button"]}
          aria-label={`${t("copy")}: ${name}`}
          onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
        >
          {t(isCopied ? "copied" : "copy")}
        </button>
      </figcaption>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
