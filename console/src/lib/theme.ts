// Light, dark, or as the system has it.

export type Theme = "system" | "light" | "dark";

const KEY = "fencepost-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  applyTheme();
}

export function applyTheme(): void {
  const theme = chosenTheme();
  const shown = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  document.documentElement.dataset["theme"] = shown;
}

dark.addEventListener("change", applyTheme);
