// SPDX-License-Identifier: Apache-2.0
import { Component, type ComponentChildren } from 'preact';

interface BoundaryProps {
  readonly children: ComponentChildren;
}

/** A fault in one view leaves the others usable. */
export class Boundary extends Component<BoundaryProps, { readonly error?: unknown }> {
  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render({ children }: BoundaryProps, { error }: { readonly error?: unknown }) {
    if (error === undefined) return children;
    return (
      <div class="notice problem" role="alert">
        <h1>This view failed</h1>
        <p>{String(error)}</p>
        <button type="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    );
  }
}
