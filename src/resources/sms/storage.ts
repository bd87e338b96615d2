import { defineMessageProviders } from "../messageprovider/index.ts";
import { smsKind } from "./config.ts";

/** Where providers of text messages are kept. */
export const sms = defineMessageProviders(smsKind);
