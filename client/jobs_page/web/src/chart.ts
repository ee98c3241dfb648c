// A chart of a job's time: a row for each stage, higher where more of its tasks ran at a time.
import { element } from "../../../catalog/web/src/dom";
import type { Job } from "./api";

const WIDTH = 600;
const HEIGHT = 28;
const NS = "http://www.w3.org/2000/svg";

function svg(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

function row(counts: readonly number[]): SVGElement {
  const most = Math.max(1, ...counts);
  const step = WIDTH / counts.length;
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true", class: "row" });
  counts.forEach((count, i) => {
    if (count === 0) return;
    const height = Math.max(2, (HEIGHT * count) / most);
    picture.append(svg("rect", { x: i * step, y: HEIGHT - height, width: step + 0.5, height, class: "bar" }));
  });
  return picture;
}

export function chart({ begin, end, stages }: Job["timeline"]): HTMLElement {
  if (stages.length === 0) return element("p", {}, "Nothing has run yet.");
  const rows = stages.map(({ stage, counts }) =>
    element("tr", {}, element("th", { scope: "row" }, stage), element("td", {}, row(counts)), element("td", { class: "count" }, `at most ${Math.max(...counts)}`)),
  );
  return element("table", { class: "timeline" }, element("caption", {}, `${((end - begin) / 1000).toFixed(1)} s`), element("tbody", {}, ...rows));
}
