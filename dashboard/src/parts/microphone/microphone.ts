// SPDX-License-Identifier: Apache-2.0
import captureAddress from './capture-worklet.js?standalone';

export type Piece = Int16Array<ArrayBuffer>;

/** Without browsers' processing for calls, which changes the voice. */
const asItIs: MediaTrackConstraints = {
  echoCancellation: false,
  noiseSuppression: false,
  autoGainControl: false,
};

/** A microphone that is on. Its audio keeps the rate of the device: the server resamples, as it does with files. */
export class Microphone {
  readonly sampleRateHz: number;
  /** As the browser names it; empty if it does not. */
  readonly name: string;
  readonly #context: AudioContext;
  readonly #stream: MediaStream;
  #capture: AudioWorkletNode | undefined;

  private constructor(context: AudioContext, stream: MediaStream) {
    this.#context = context;
    this.#stream = stream;
    this.sampleRateHz = context.sampleRate;
    this.name = stream.getAudioTracks()[0]?.label ?? '';
  }

  /**
   * Asks the reader for the microphone.
   * @throws MicrophoneProblem
   */
  static async open(): Promise<Microphone> {
    // Absent on pages that came over HTTP from another machine.
    const devices = navigator.mediaDevices as MediaDevices | undefined;
    if (devices === undefined) throw new MicrophoneProblem('insecure');
    const stream = await devices.getUserMedia({ audio: asItIs }).catch((error: unknown) => {
      throw new MicrophoneProblem(error instanceof DOMException ? error.name : '');
    });
    // Firefox connects a microphone only to a context of its rate.
    const sampleRate = stream.getAudioTracks()[0]?.getSettings().sampleRate;
    let context: AudioContext;
    try {
      context = new AudioContext(sampleRate === undefined ? {} : { sampleRate });
    } catch (error) {
      for (const track of stream.getTracks()) track.stop();
      throw new MicrophoneProblem(error instanceof DOMException ? error.name : '');
    }
    const microphone = new Microphone(context, stream);
    try {
      await context.audioWorklet.addModule(new URL(captureAddress, import.meta.url).href);
      await context.resume();
      return microphone;
    } catch (error) {
      microphone.close();
      throw error;
    }
  }

  /** @param onLost called if the device goes away */
  start(onPiece: (piece: Piece) => void, onLost: () => void): void {
    const capture = new AudioWorkletNode(this.#context, 'capture', { numberOfOutputs: 0 });
    this.#capture = capture;
    capture.port.addEventListener('message', ({ data }) => {
      if (data instanceof Int16Array && data.length > 0) onPiece(data as Piece);
    });
    capture.port.start();
    this.#context.createMediaStreamSource(this.#stream).connect(capture);
    this.#stream.getAudioTracks()[0]?.addEventListener('ended', onLost);
  }

  /** Resolves when the last piece has come. */
  async stop(): Promise<void> {
    const port = this.#capture?.port;
    if (port !== undefined && this.#context.state === 'running') {
      await new Promise<void>((resolve) => {
        port.addEventListener('message', ({ data }) => data === 'end' && resolve());
        port.postMessage('end');
      });
    }
    this.close();
  }

  close(): void {
    for (const track of this.#stream.getTracks()) track.stop();
    if (this.#context.state !== 'closed') void this.#context.close();
  }
}

const problems: Readonly<Record<string, string>> = {
  insecure: 'Browsers allow the microphone only on pages from HTTPS or localhost. Serve veravox with TLS.',
  NotAllowedError:
    'The browser does not let this page use the microphone. Allow it in the settings of the site, beside the address, and start again.',
  NotFoundError: 'There is no microphone. Connect one and start again.',
  NotReadableError:
    'The microphone cannot be opened: another program may be using it. Close that program and start again.',
};

/** Why there is no microphone, in words. */
export class MicrophoneProblem extends Error {
  override readonly name = 'MicrophoneProblem';

  /** @param cause the name of the browser's error */
  constructor(cause: string) {
    super(problems[cause] ?? 'The microphone cannot be opened.');
  }
}
