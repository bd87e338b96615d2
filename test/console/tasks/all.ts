import type { Task } from "../tasks.ts";
import { instance } from "./instance.ts";
import { people } from "./people.ts";
import { projects } from "./projects.ts";

/** The thirty tasks of administrators, by their numbers. */
export const allTasks: readonly Task[] = [...people, ...projects, ...instance].toSorted(
  (a, b) => parseInt(a.name) - parseInt(b.name),
);
