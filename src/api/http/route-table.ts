// SPDX-License-Identifier: Apache-2.0
import type { Route } from '../routes/route.js';

/** A path with a parameter in it. */
interface Template {
  readonly path: string;
  readonly start: string;
  readonly end: string;
}

/** Finds the routes of a path. */
export class RouteTable {
  readonly routes: readonly Route[];
  readonly #byPath = new Map<string, Map<string, Route>>();
  readonly #prefixes: string[] = [];
  readonly #templates: Template[] = [];

  constructor(routes: readonly Route[]) {
    this.routes = routes;
    for (const route of routes) {
      const methods = this.#byPath.get(route.path) ?? new Map<string, Route>();
      methods.set(route.method, route);
      if (route.method === 'GET') methods.set('HEAD', route);
      if (route.isPrefix && !this.#prefixes.includes(route.path)) this.#prefixes.push(route.path);
      this.#byPath.set(route.path, methods);
      const [start = '', end] = route.path.split(/\{\w+\}/);
      if (end !== undefined) this.#templates.push({ path: route.path, start, end });
    }
  }

  /**
   * Undefined without a match.
   * @returns `path`: of the route; `target`: the given path as the route knows it; and the routes by method
   */
  find(given: string): { path: string; target: string; methods: ReadonlyMap<string, Route> } | undefined {
    const target = this.#withoutSlash(given);
    const path = this.#pathOf(target);
    const methods = path === undefined ? undefined : this.#byPath.get(path);
    return path === undefined || methods === undefined ? undefined : { path, target, methods };
  }

  #pathOf(target: string): string | undefined {
    return this.#byPath.has(target)
      ? target
      : (this.#templateOf(target) ?? this.#prefixes.find((prefix) => target.startsWith(prefix)));
  }

  #templateOf(path: string): string | undefined {
    return this.#templates.find(
      ({ start, end }) =>
        path.startsWith(start) && path.endsWith(end) && !path.slice(start.length, -end.length).includes('/'),
    )?.path;
  }

  /**
   * Routes of the API also accept a trailing slash, which many clients add. They are served without a redirect, because not
   * every client repeats a POST after one. Other routes are exact, because links in pages depend on it.
   */
  #withoutSlash(given: string): string {
    if (!given.endsWith('/')) return given;
    const exact = given.slice(0, -1);
    const route = this.#byPath
      .get(this.#pathOf(exact) ?? '')
      ?.values()
      .next().value;
    return route?.scope === undefined ? given : exact;
  }
}
