// The theme: light, dark, or the system's. It is stored if the browser allows it.

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const KEY = "kernelmill-theme";

function stored(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "auto";
  } catch {
    return "auto"; // a page opened from a folder may have no storage
  }
}

function apply(theme: Theme): void {
  const root = document.documentElement;
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
}

/** Applies the stored theme. Call before the page is painted. */
export function applyTheme(): void {
  document.documentElement.classList.add("js");
  apply(stored());
}

/** Adds a button to the page's header that switches between the themes. */
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
      // The theme then applies to this page only.
    }
  });
  label();
  document.querySelector("header.top")?.append(button);
}
