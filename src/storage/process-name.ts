import { randomUUID } from "node:crypto";

const prefix = "process/";

/** A name for this process that no other has. */
export const newProcessName = (): string => `${prefix}${randomUUID()}`;

/** Whether a name was made so: earlier releases named holders otherwise, and of those nothing is known. */
export const isProcessName = (name: string): boolean => name.startsWith(prefix);
