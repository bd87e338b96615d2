import { defineMessageProviders } from "../messageprovider/index.ts";
import { smtpKind } from "./config.ts";

/** Where providers of mails are kept. */
export const smtp = defineMessageProviders(smtpKind);
