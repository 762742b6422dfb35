// SPDX-License-Identifier: Apache-2.0
import { whyNotListening } from './listen-error.js';
import { checkTlsFiles, fingerprintOf, type TlsFiles } from './tls-files.js';
import {
  App,
  type HttpRequest,
  type HttpResponse,
  type SocketContext,
  SSLApp,
  type TemplatedApp,
  us_listen_socket_close,
  us_socket_local_port,
} from './uws.js';
import { socketBehavior } from './web-sockets.js';

/** Several processes may listen on the port; the system distributes connections among them. */
const SHARED = 0;
const EXCLUSIVE = 1;

type ListenSocket = Parameters<typeof us_listen_socket_close>[0];

export interface Listener {
  readonly port: number;
  /** Accepts no further connections; existing ones continue. */
  stopListening(): void;
  /** After `stopListening`: accepts connections again, on the same port. False if the system does not allow it. */
  listenAgain(): boolean;
  /**
   * Reloads the certificate and its key for new connections; existing ones keep theirs.
   * @throws Error with the reason if they cannot be used; nothing has changed then
   */
  renewTls(): void;
  /** Cuts off every connection. */
  close(): void;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Without it, the port belongs to this process alone. */
  readonly isShared?: boolean;
  /** Undefined for HTTP. */
  readonly tls?: TlsFiles | undefined;
  /** Called for every request, whatever its method and path. */
  handle(res: HttpResponse, req: HttpRequest): void;
  /** Called for every request that wants a WebSocket. */
  handleUpgrade?(res: HttpResponse, req: HttpRequest, context: SocketContext): void;
  /** Called with the peer address of each new connection; closes it if the result is false. */
  admits?(address: ArrayBuffer): boolean;
  /** Called for each ended connection, including rejected ones. */
  ended?(): void;
}

/** @throws Error with the reason if listening fails or the certificate is unusable */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { host, tls, isShared = false } = options;
  if (tls !== undefined) checkTlsFiles(tls);
  const apps = tls === undefined ? new PlainApps(options) : new SecureApps(options, tls);
  const sharing = isShared ? SHARED : EXCLUSIVE;
  let socket = open(apps.listening, host, options.port, sharing);
  if (socket === undefined) {
    apps.close();
    throw new Error(await whyNotListening(host, options.port));
  }
  const port = us_socket_local_port(socket);
  return {
    port,
    stopListening() {
      if (socket !== undefined) us_listen_socket_close(socket);
      socket = undefined;
    },
    listenAgain() {
      socket ??= open(apps.listening, host, port, sharing);
      return socket !== undefined;
    },
    renewTls: () => apps.renewTls(),
    close() {
      socket = undefined;
      apps.close();
    },
  };
}

class PlainApps {
  readonly listening: TemplatedApp;

  constructor(options: ListenOptions) {
    this.listening = serve(App(), options);
  }

  renewTls(): void {}

  close(): void {
    this.listening.close();
  }
}

/** A method of uWebSockets.js for threads that share a port, missing from its types. */
interface ParentApp extends TemplatedApp {
  addChildAppDescriptor(descriptor: unknown): void;
  removeChildAppDescriptor(descriptor: unknown): void;
}
type ChildApp = TemplatedApp & { getDescriptor(): unknown };

/**
 * An app keeps its certificate for life. So one app listens and hands connections to another, which is replaced together
 * with the certificate: the port stays open, and no client is refused meanwhile.
 */
class SecureApps {
  readonly listening: ParentApp;
  readonly #options: ListenOptions;
  readonly #tls: TlsFiles;
  readonly #retired: ChildApp[] = [];
  #serving: ChildApp;
  #fingerprint: string;

  constructor(options: ListenOptions, tls: TlsFiles) {
    this.#options = options;
    this.#tls = tls;
    this.#fingerprint = fingerprintOf(tls);
    this.listening = this.#createApp() as ParentApp;
    this.#serving = this.#createServing();
    this.listening.addChildAppDescriptor(this.#serving.getDescriptor());
  }

  renewTls(): void {
    checkTlsFiles(this.#tls);
    const fingerprint = fingerprintOf(this.#tls);
    // Apps stay in memory: one for each certificate, not one for each signal.
    if (fingerprint === this.#fingerprint) return;
    this.#fingerprint = fingerprint;
    const earlier = this.#serving;
    this.#serving = this.#createServing();
    this.listening.addChildAppDescriptor(this.#serving.getDescriptor());
    this.listening.removeChildAppDescriptor(earlier.getDescriptor());
    // It still has connections, and gets those accepted a moment ago.
    this.#retired.push(earlier);
  }

  close(): void {
    for (const app of [this.listening, this.#serving, ...this.#retired]) app.close();
  }

  #createServing(): ChildApp {
    return serve(this.#createApp(), this.#options) as ChildApp;
  }

  #createApp(): TemplatedApp {
    return SSLApp({ cert_file_name: this.#tls.certFile, key_file_name: this.#tls.keyFile });
  }
}

function serve(app: TemplatedApp, { handle, handleUpgrade, admits, ended }: ListenOptions): TemplatedApp {
  if (admits !== undefined) {
    const follow: Parameters<typeof app.filter>[0] = (res, change) => {
      if ((change as number) < 0) ended?.();
      else if (!admits(res.getRemoteAddress())) res.close();
    };
    app.filter(follow);
  }
  if (handleUpgrade !== undefined) app.ws('/*', socketBehavior(handleUpgrade, ended));
  return app.any('/*', handle);
}

function open(app: TemplatedApp, host: string, port: number, sharing: number): ListenSocket | undefined {
  let opened: ListenSocket | undefined;
  const listenOn = app.listen as (...args: unknown[]) => TemplatedApp;
  // Called before `listen` returns.
  listenOn.call(app, host, port, sharing, (socket: ListenSocket | false) => {
    if (socket !== false) opened = socket;
  });
  return opened;
}
