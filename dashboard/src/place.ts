// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';

/** The reader's place: the part of the address after `#/`. */
export interface Place {
  /** The view, such as `keys`; empty for the first one. */
  readonly view: string;
  /** The subject, such as the id of a job; empty for none. */
  readonly id: string;
  readonly query: URLSearchParams;
}

export interface ViewProps {
  readonly place: Place;
}

function part(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? '');
  } catch {
    return '';
  }
}

export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  const [view, id] = path.split('/');
  return { view: part(view), id: part(id), query: new URLSearchParams(query) };
}

/** The address of a place, for `href`. */
export function addressOf(view: string, id = '', query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(query).toString();
  const path = [view, ...(id === '' ? [] : [id])].map(encodeURIComponent).join('/');
  return `#/${path}${search === '' ? '' : `?${search}`}`;
}

/** The place, followed. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  useEffect(() => {
    const follow = (): void => setPlace(placeOf(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return place;
}
