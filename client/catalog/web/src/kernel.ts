// The script of static pages: the theme, and buttons that copy or download a text of the page.
import { addThemeButton, applyTheme } from "./theme";

/** Returns the exact text of the element that a button names. */
function textFor(button: HTMLElement, attribute: "copy" | "download"): string {
  return document.getElementById(button.dataset[attribute] ?? "")?.textContent ?? "";
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text); // pages opened from a folder or over HTTP have no clipboard
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.className = "off-screen";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

/** Shows a message instead of the button's label for two seconds; screen readers read it too. */
function say(button: HTMLElement, message: string): void {
  const label = (button.dataset.label ??= button.textContent ?? "");
  button.textContent = message;
  status().textContent = message;
  setTimeout(() => (button.textContent = label), 2000);
}

function status(): HTMLElement {
  const known = document.getElementById("status");
  if (known) return known;
  const made = document.createElement("p");
  made.id = "status";
  made.className = "off-screen";
  made.setAttribute("role", "status");
  document.body.append(made);
  return made;
}

function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function onClick(event: Event): void {
  const button = (event.target as Element).closest<HTMLElement>("[data-copy], [data-download]");
  if (!button) return;
  if (button.dataset.copy) {
    void copy(textFor(button, "copy")).then((done) => {
      say(button, done ? "Copied" : "The browser does not allow copying");
      button.focus();
    });
  } else {
    download(button.dataset.name ?? "kernel.py", textFor(button, "download"));
  }
}

applyTheme();
document.addEventListener("DOMContentLoaded", () => {
  addThemeButton();
  document.addEventListener("click", onClick);
});
