// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import type { Source } from './settings.js';

/** An address under which the page can play a recording; undefined for links to other servers. */
export function useSource(source: Source | undefined): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (source?.is === 'link') {
      setAddress(
        URL.canParse(source.link) && new URL(source.link).origin === location.origin
          ? source.link
          : undefined,
      );
      return;
    }
    if (source === undefined) {
      setAddress(undefined);
      return;
    }
    const made = URL.createObjectURL(source.file);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [source]);
  return address;
}
