// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';

/** Copies a text. Without TLS a browser has no clipboard for pages: the text is then selected for copying by hand. */
export function CopyButton({ text, of }: { readonly text: string; readonly of: HTMLElement | null }) {
  const [state, setState] = useState<'' | 'Copied' | 'Selected: copy it with your keyboard'>('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setState('Copied');
    } catch {
      if (of !== null) getSelection()?.selectAllChildren(of);
      setState('Selected: copy it with your keyboard');
    }
  };
  return (
    <>
      <button type="button" onClick={copy}>
        Copy
      </button>{' '}
      <output class="soft">{state}</output>
    </>
  );
}
