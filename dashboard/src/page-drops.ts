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
    const isOverOtherBox = event.defaultPrevented;
    if (!isOverOtherBox && event.dataTransfer !== null && taker === undefined) {
      event.dataTransfer.dropEffect = 'none';
    }
    event.preventDefault();
    taker?.showOver(!isOverOtherBox);
  });
  addEventListener('dragleave', ({ relatedTarget }) => {
    if (relatedTarget === null) taker?.showOver(false);
  });
  addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    taker?.showOver(false);
    const isTaken = event.defaultPrevented;
    event.preventDefault();
    if (!isTaken && event.dataTransfer !== null) taker?.take(event.dataTransfer.files);
  });
}

/** Takes files dropped anywhere but on boxes that prevent the default. @returns a function that ends it */
export function takeDrops(take: Taker['take'], showOver: Taker['showOver']): () => void {
  const own = { take, showOver };
  taker = own;
  return () => {
    if (taker === own) taker = undefined;
  };
}
