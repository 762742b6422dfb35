// SPDX-License-Identifier: Apache-2.0
//
// Plays a WAV file (mu-law, 8 kHz, a channel for each leg) as the call of a telephony provider, and prints the events, one per line.
//   ffmpeg -i call.mp3 -ar 8000 -c:a pcm_mulaw call.wav
//   node call.mjs http://127.0.0.1:8080 KEY call.wav [speed]
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

const [server, key, file, speed = '1'] = process.argv.slice(2);
const headers = { 'x-api-key': key };
const streamSid = `MZ${randomUUID()}`;
const CHUNK_MS = 20;

/** The provider's part, but for the ticket, which your own service asks for. */
async function play() {
  const wav = await readFile(file);
  const tracks = ['inbound', 'outbound'].slice(0, wav.readUInt16LE(22));
  const samples = wav.subarray(wav.indexOf('data') + 8);
  const answer = await fetch(`${server}/v1/stream/tickets`, { method: 'POST', headers });
  const { ticket } = await answer.json();
  const socket = new WebSocket(`${server.replace(/^http/, 'ws')}/v1/stream/calls/${ticket}`);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('The server refuses the call.'));
  });
  const send = (event, content) => socket.send(JSON.stringify({ event, streamSid, ...content }));
  const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
  send('connected', { protocol: 'Call', version: '1.0.0' });
  send('start', { start: { streamSid, tracks, mediaFormat, customParameters: { threshold: '0.5' } } });
  const beganMs = performance.now();
  const step = 8 * CHUNK_MS * tracks.length;
  for (let at = 0, timestamp = 0; at < samples.length; at += step, timestamp += CHUNK_MS) {
    const chunk = samples.subarray(at, at + step);
    for (const [channel, track] of tracks.entries()) {
      const payload = chunk.filter((_, i) => i % tracks.length === channel).toString('base64');
      send('media', { media: { track, timestamp: String(timestamp), payload } });
    }
    await pause(Math.max(0, beganMs + timestamp / Number(speed) - performance.now()));
  }
  send('stop');
}

/** Your part: the verdicts on both legs while they talk. */
async function printEvents() {
  let answer;
  do {
    await pause(100);
    answer = await fetch(`${server}/v1/stream/calls/${streamSid}/events`, { headers });
  } while (answer.status === 404);
  let text = '';
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = (text + piece).split('\n');
    text = lines.pop();
    for (const line of lines) if (line.startsWith('data: ')) console.log(line.slice('data: '.length));
  }
}

await Promise.all([play(), printEvents()]);
