// SPDX-License-Identifier: Apache-2.0
//
// Files dropped beside a box for them. A browser would leave the page and show them.

interface Taker {
  take(files: FileList): void;
  showOver(isOver: boolean): void;
}

let taker: Taker | undefined;

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true;

/** Keeps the page where it is, whatever is dropped on it. Call it once. */
export function catchDrops(): void {
  addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    // A box of its own has shown that it takes them.
    if (!event.defaultPrevented && event.dataTransfer !== null && taker === undefined) {
      event.dataTransfer.dropEffect = 'none';
    }
    event.preventDefault();
    taker?.showOver(true);
  });
  addEventListener('dragleave', ({ relatedTarget }) => {
    if (relatedTarget === null) taker?.showOver(false);
  });
  addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    taker?.showOver(false);
    if (event.dataTransfer !== null) taker?.take(event.dataTransfer.files);
  });
}

/** Takes files dropped anywhere. @returns a function that ends it */
export function takeDrops(take: Taker['take'], showOver: Taker['showOver']): () => void {
  const own = { take, showOver };
  taker = own;
  return () => {
    if (taker === own) taker = undefined;
  };
}
