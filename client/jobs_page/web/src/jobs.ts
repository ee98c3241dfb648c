// The page of a cluster's jobs: asks the server every two seconds, and shows the answers. It only reads.
import { element } from "../../../catalog/web/src/dom";
import { addThemeButton, applyTheme } from "../../../catalog/web/src/theme";
import { getJob, getState, type Head, type Job, type State, type Worker } from "./api";
import { chart } from "./chart";

const PAUSE_MS = 2000;

applyTheme();

const byId = (id: string): HTMLElement => document.getElementById(id)!;
const chosen = (): string => decodeURIComponent(location.hash.slice(1));
const number = (value: number): string => value.toLocaleString("en");

function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (seconds < 60) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function table(label: string, heads: string[], rows: HTMLElement[][]): HTMLElement {
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell))));
  const made = element("table", { class: "grid", "aria-label": label }, element("thead", {}, head), element("tbody", {}, ...body));
  // A keyboard can scroll it.
  return element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `Table: ${label}` }, made);
}

const text = (value: string): HTMLElement => element("bdi", {}, value);
const list = (items: HTMLElement[]): HTMLElement => element("ul", { class: "plain" }, ...items.map((item) => element("li", {}, item)));

function bar(done: number, total: number): HTMLElement {
  const progress = element("progress", { max: String(Math.max(1, total)), value: String(done), "aria-label": `${done} of ${total} ${total === 1 ? "task" : "tasks"}` });
  return element("span", { class: "progress" }, progress, ` ${number(done)} of ${number(total)}`);
}

function stateMark(job: Head): HTMLElement {
  const kind = job.lost ? "bad" : job.state === "done" ? (job.failures > 0 ? "warned" : "ok") : job.state === "running" ? "going" : "bad";
  return element("span", { class: kind }, job.words);
}

function jobRow(job: Head, now: number): HTMLElement[] {
  const link = element("a", { href: `#${encodeURIComponent(job.job)}` }, job.job);
  if (job.job === chosen()) link.setAttribute("aria-current", "true");
  return [
    link,
    stateMark(job),
    bar(job.done, job.total),
    text(duration((job.ended || now) - job.submitted)),
    text(job.failures > 0 ? number(job.failures) : ""),
    text(job.owner),
    text(new Date(job.submitted).toLocaleString()),
  ];
}

function showJobs({ jobs, now, flags }: State): void {
  const heads = ["Job", "State", "Tasks", "Time", "Failed inputs", "Owner", "Submitted"];
  byId("jobs").replaceChildren(
    jobs.length > 0
      ? table("Jobs", heads, jobs.map((job) => jobRow(job, now)))
      : element("p", {}, "No jobs yet. ", element("code", {}, `kernelmill submit my-kernels.yaml --wait --out my-dataset${flags}`), " submits one."),
  );
}

function workerRow(worker: Worker, now: number): HTMLElement[] {
  const tasks = worker.running.map((task) =>
    text(`${task.stage}${task.source ? ` of ${task.source}` : ""}, ${duration(now - task.leased)}${task.attempt > 1 ? `, attempt ${task.attempt}` : ""}`),
  );
  const silent = now - worker.heard > 60_000;
  return [
    text(worker.name),
    text(worker.stages.join(", ")),
    text(`${worker.running.length} of ${worker.slots}`),
    tasks.length > 0 ? list(tasks) : text(""),
    element("span", { class: silent ? "bad" : "" }, `${duration(now - worker.heard)} ago`),
    text(worker.version),
  ];
}

function showWorkers({ workers, now }: State): void {
  const heads = ["Worker", "Stages and their versions", "Busy slots", "Running", "Last heard", "Build"];
  byId("workers").replaceChildren(
    workers.length > 0 ? table("Workers", heads, workers.map((worker) => workerRow(worker, now))) : element("p", {}, "No worker is connected."),
  );
}

function problems(job: Job): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (job.unserved.length > 0) {
    const waiting = job.unserved.map((one) => text(`${one.stage}: ${one.tasks === 1 ? "1 task waits" : `${number(one.tasks)} tasks wait`}`));
    parts.push(element("h3", {}, "No worker runs these stages"), list(waiting));
  }
  if (job.troubled.length > 0) {
    const rows = job.troubled.map((task) => [text(task.source), text(task.stage), text(String(task.attempts)), text(task.error)]);
    parts.push(element("h3", {}, "Tried again or waiting"), table("Troubled tasks", ["Source", "Stage", "Attempts", "Last error"], rows));
  }
  if (job.listed.length > 0) {
    const rows = job.listed.map((one) => [text(one.path ? `${one.source} ${one.path}` : one.source), text(one.stage), text(one.code), text(one.message)]);
    const rest = job.failures > job.listed.length ? `, the first ${job.listed.length} of ${number(job.failures)}` : "";
    parts.push(element("h3", {}, `Failed inputs${rest}`), table("Failures", ["Input", "Stage", "Code", "Message"], rows));
  }
  if (job.unmatched.length > 0) {
    const rows = job.unmatched.map((one) => [text(one.where), text(one.text)]);
    parts.push(element("h3", {}, "Asked for, without a match"), table("Without a match", ["In the job", "Found"], rows));
  }
  return parts;
}

function showJob(job: Job): void {
  const stages = job.stages.map((stage) => [
    text(stage.stage), bar(stage.done + stage.failed, stage.total), text(number(stage.cached)), text(number(stage.running)), text(stage.failed > 0 ? number(stage.failed) : ""),
  ]);
  const fates = ["kept", "rejected", "duplicate", "contaminated"].flatMap((fate) =>
    Object.entries(job.counters).filter(([name]) => name === `dataset.${fate}` || name.startsWith(`dataset.${fate}.`)),
  );
  const facts = element("table", { class: "facts" });
  const fact = (name: string, value: string): void => {
    if (value) facts.append(element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, text(value))));
  };
  fact("State", `${job.words}${job.runs > 1 ? `, run ${job.runs}` : ""}`);
  fact("Dataset", job.dataset);
  fact("Priority", job.priority !== 0 ? String(job.priority) : "");
  fact("Kernels", fates.map(([name, value]) => `${name.replace("dataset.", "").replaceAll(".", ": ")} ${number(value)}`).join(", "));
  byId("job").replaceChildren(
    element("h2", {}, text(job.job)),
    facts,
    ...problems(job),
    element("h3", {}, "Stages"),
    table("Stages", ["Stage", "Tasks", "From the cache", "Running", "Failed"], stages),
    element("h3", {}, "Timeline: tasks that ran at a time"),
    chart(job.timeline),
  );
}

let round = 0;

async function refresh(): Promise<void> {
  const own = ++round;
  try {
    const state = await getState();
    const job = chosen() || state.jobs[0]?.job;
    const details = job ? await getJob(job) : undefined;
    if (own !== round) return;
    showJobs(state);
    showWorkers(state);
    if (details) showJob(details);
    else byId("job").replaceChildren();
    const running = state.jobs.filter((one) => one.state === "running").length;
    byId("state").textContent = `${number(running)} running, ${number(state.workers.length)} workers`;
    document.title = running > 0 ? `(${running}) kernelmill jobs` : "kernelmill jobs";
  } catch (error) {
    if (own === round) byId("state").textContent = `The coordinator does not answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function go(): Promise<void> {
  for (;;) {
    if (!document.hidden) await refresh();
    await new Promise((later) => setTimeout(later, PAUSE_MS));
  }
}

addThemeButton();
addEventListener("hashchange", () => void refresh());
void go();
