// SPDX-License-Identifier: Apache-2.0
import { connect, type Socket } from 'node:net';
import { type Answer, NotHttp, readAnswer } from './answer.js';

export interface Outcome {
  /**
   * `silent`: neither an answer nor an end within the time; `closed`: the server ended the connection without a complete
   * answer; `broken off`: the client did.
   */
  readonly end: 'answered' | 'silent' | 'closed' | 'broken off';
  readonly answers: readonly Answer[];
  /** Bytes from the server that are not HTTP, or more than was requested. */
  readonly problem?: string;
  readonly tookMs: number;
}

export interface Exchange {
  readonly bytes: Buffer;
  /** Bytes to send before the connection is cut. */
  readonly breaksOffAfter?: number;
  readonly toHead?: boolean;
  /** One answer ends the exchange; otherwise silence for `timeoutMs` does. */
  readonly wantsOne: boolean;
  readonly timeoutMs: number;
}

/** A socket that sends exactly these bytes. Reused for the next exchange while the server keeps it open. */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #isClosed = false;
  #onChange: () => void = () => {};
  isUsed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#onChange();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isClosed = true;
      this.#onChange();
    });
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  get isOpen(): boolean {
    return !this.#isClosed && !this.#socket.destroyed && this.#socket.writable;
  }

  close(): void {
    this.#socket.destroy();
  }

  exchange({ bytes, breaksOffAfter, toHead = false, wantsOne, timeoutMs }: Exchange): Promise<Outcome> {
    const startedMs = performance.now();
    this.isUsed = true;
    const answers: Answer[] = [];
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const settle = (end: Outcome['end'], problem?: string): void => {
        clearTimeout(timer);
        this.#onChange = () => {};
        const tookMs = performance.now() - startedMs;
        const surplus = this.#received.length > 0 && wantsOne && end === 'answered';
        const said = problem ?? (surplus ? `more than one answer: ${this.#excerpt()}` : undefined);
        const keeps = end === 'answered' && said === undefined && wantsOne;
        if (!keeps || answers[0]?.headers.get('connection')?.toLowerCase() === 'close') this.close();
        resolve({ end, answers, tookMs, ...(said !== undefined && { problem: said }) });
      };
      const wait = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => settle(answers.length > 0 ? 'answered' : 'silent'), timeoutMs);
      };
      this.#onChange = () => {
        try {
          for (let next = readAnswer(this.#received, toHead, this.#isClosed); next !== undefined; ) {
            answers.push(next.answer);
            this.#received = this.#received.subarray(next.bytes);
            if (wantsOne) {
              settle('answered');
              return;
            }
            wait();
            next = readAnswer(this.#received, toHead, this.#isClosed);
          }
        } catch (error) {
          if (!(error instanceof NotHttp)) throw error;
          settle('answered', `${error.message} in ${this.#excerpt()}`);
          return;
        }
        if (this.#isClosed) settle(answers.length > 0 ? 'answered' : 'closed');
      };
      wait();
      if (breaksOffAfter === undefined) this.#socket.write(bytes);
      else this.#socket.write(bytes.subarray(0, breaksOffAfter), () => settle('broken off'));
    });
  }

  #excerpt(): string {
    return JSON.stringify(this.#received.subarray(0, 300).toString('latin1'));
  }
}
