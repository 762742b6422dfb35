// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';

/** Playing time of a file, in seconds; undefined until the browser has found out, and if it cannot play the file. */
export function useDuration(file: Blob | undefined): number | undefined {
  const [durationS, setDurationS] = useState<number>();
  useEffect(() => {
    setDurationS(undefined);
    if (file === undefined) return;
    const address = URL.createObjectURL(file);
    const element = new Audio();
    element.preload = 'metadata';
    element.onloadedmetadata = () => {
      if (Number.isFinite(element.duration)) setDurationS(element.duration);
    };
    element.src = address;
    return () => {
      element.onloadedmetadata = null;
      element.removeAttribute('src');
      URL.revokeObjectURL(address);
    };
  }, [file]);
  return durationS;
}
