// Run: alone, early
import { after } from "node:test";
import { describeTasks } from "./tasks.ts";
import { allTasks } from "./tasks/all.ts";
import { endVisits } from "./visits.ts";

after(endVisits);

describeTasks(allTasks, "least role");
