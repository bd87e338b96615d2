import type { createReadiness } from "../api/system/readiness.ts";
import type { Kernel } from "./kernel.ts";
import { diskReserve } from "./reserve.ts";

type Readiness = ReturnType<typeof createReadiness>;

/** While the store cannot write, the service is not ready; room that was held back on the disk lets it end well. */
export function watchDisk({ config, logger, writes }: Kernel, readiness: Readiness) {
  const reserve = diskReserve(config.dataDir);
  if (!reserve.hold()) logger.warn({ folder: config.dataDir }, "the disk has no space in reserve");
  writes.onChange((isWritable) => {
    readiness.impede(isWritable ? undefined : "the store cannot write");
    if (isWritable) {
      reserve.hold();
      logger.info("the store can write again");
    } else logger.error("the store cannot write: reads go on, nothing is changed");
  });
  return reserve;
}

/** Once a newer build has changed the store, the service is not ready. */
export function watchForNewer({ db, logger }: Kernel, readiness: Readiness): void {
  db.onOvertaken(() => {
    const why =
      "a newer build has changed the store, and every call is refused until this one is replaced";
    logger.error(why);
    readiness.impede(why);
  });
}
