// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import type { Recording } from './recording.js';

/** An address under which the page can play a recording; undefined for links to other servers, and after a reload. */
export function useAddress({ file, link }: Recording): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (file === undefined) {
      const isOurs = link !== undefined && URL.canParse(link) && new URL(link).origin === location.origin;
      setAddress(isOurs ? link : undefined);
      return;
    }
    const made = URL.createObjectURL(file);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [file, link]);
  return address;
}
