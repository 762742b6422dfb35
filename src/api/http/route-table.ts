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

  /** The route path that matches `path`, and its routes by method; undefined without a match. */
  find(path: string): { path: string; methods: ReadonlyMap<string, Route> } | undefined {
    const routePath = this.#byPath.has(path)
      ? path
      : (this.#withoutSlash(path) ??
        this.#templateOf(path) ??
        this.#prefixes.find((prefix) => path.startsWith(prefix)));
    const methods = routePath === undefined ? undefined : this.#byPath.get(routePath);
    return routePath === undefined || methods === undefined ? undefined : { path: routePath, methods };
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
  #withoutSlash(path: string): string | undefined {
    if (!path.endsWith('/')) return undefined;
    const exact = path.slice(0, -1);
    const route = this.#byPath.get(exact)?.values().next().value;
    return route?.scope === undefined ? undefined : exact;
  }
}
