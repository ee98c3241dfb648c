// Light, dark, or as the system has it; kept where the browser lets a page keep things.

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const KEY = "kernelmill-theme";

function stored(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "auto";
  } catch {
    return "auto"; // a page of a folder may be refused a storage
  }
}

function apply(theme: Theme): void {
  const root = document.documentElement;
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
}

/** To be called before the page is painted. */
export function applyTheme(): void {
  document.documentElement.classList.add("js");
  apply(stored());
}

/** Adds the button that goes through the themes to the page's head. */
export function addThemeButton(): void {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "theme";
  let theme = stored();
  const label = (): void => {
    button.textContent = `Theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
    apply(theme);
    label();
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // It then holds for this page.
    }
  });
  label();
  document.querySelector("header.top")?.append(button);
}
