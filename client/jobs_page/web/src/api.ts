// The answers of the page's server: client/jobs_page/page_state.cc. Times are milliseconds since 1970; 0: not yet.

export interface Head {
  job: string;
  name: string;
  state: "running" | "done" | "failed" | "abandoned" | "cancelled";
  /** The state as `kernelmill jobs` says it: "done, all 3 sources failed". */
  words: string;
  /** It is done, and all of its sources failed. */
  lost: boolean;
  owner: string;
  submitted: number;
  ended: number;
  priority: number;
  runs: number;
  /** Tasks known so far; those that failed are done. */
  total: number;
  done: number;
  running: number;
  failures: number;
}

export interface Worker {
  name: string;
  caller: string;
  version: string;
  stages: string[];
  slots: number;
  heard: number;
  running: { job: string; stage: string; source: string; attempt: number; leased: number }[];
}

export interface State {
  now: number;
  jobs: Head[];
  workers: Worker[];
  /** The flags with which commands reach this cluster, after a space; empty if it is at the usual addresses. */
  flags: string;
}

export interface Stage {
  stage: string;
  total: number;
  done: number;
  cached: number;
  failed: number;
  running: number;
}

export interface Job extends Head {
  dataset: string;
  stages: Stage[];
  /** The first hundred failures. */
  listed: { source: string; path: string; stage: string; code: string; message: string }[];
  /** Wishes of the job that match nothing. */
  unmatched: { where: string; text: string }[];
  troubled: { source: string; stage: string; attempts: number; error: string }[];
  unserved: { stage: string; tasks: number }[];
  counters: Record<string, number>;
  /** For each stage how many tasks ran in each part of the time. */
  timeline: { begin: number; end: number; stages: { stage: string; counts: number[] }[] };
}

async function get<Answer>(path: string): Promise<Answer> {
  const response = await fetch(path);
  const answer = (await response.json()) as Answer & { error?: string };
  if (!response.ok) throw new Error(answer.error ?? response.statusText);
  return answer;
}

export const getState = (): Promise<State> => get("/api/state");
export const getJob = (name: string): Promise<Job> => get(`/api/job?name=${encodeURIComponent(name)}`);
