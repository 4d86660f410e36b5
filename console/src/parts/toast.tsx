// One line at a time about what was just done, told to screen readers as well.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

type Said = { text: ComponentChildren; turn: number } | null;
let tell: (said: Said) => void = () => undefined;
let turn = 0;

export function say(text: ComponentChildren): void {
  tell({ text, turn: ++turn });
}

export function Toast(): JSX.Element {
  const [said, setSaid] = useState<Said>(null);
  tell = setSaid;
  useEffect(() => {
    if (!said) return;
    const gone = setTimeout(() => setSaid(null), 6000);
    return () => clearTimeout(gone);
  }, [said]);
  return (
    <div class="said" role="status" aria-live="polite">
      {said ? <div class="toast">{said.text}</div> : null}
    </div>
  );
}

export async function copy(text: string, what: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  say(`Copied: ${what}`);
}
