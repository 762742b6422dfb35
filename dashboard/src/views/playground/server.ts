// SPDX-License-Identifier: Apache-2.0
import { type DetectorFacts, type ServerFacts, serverFacts } from '../../logic/server-facts.js';
import { baseUrl, type Session } from '../../session.js';

/** What can be asked of the server. */
export async function askServer(session: Session, signal: AbortSignal): Promise<ServerFacts> {
  const [document, detectors] = await Promise.all([openapi(signal), detectorsOf(session, signal)]);
  return serverFacts(document, detectors);
}

async function openapi(signal: AbortSignal): Promise<unknown> {
  const answer = await fetch(`${baseUrl}openapi.json`, { signal });
  if (!answer.ok)
    throw new Error(`The server answered with status ${answer.status} instead of its API description.`);
  return answer.json();
}

async function detectorsOf({ admin }: Session, signal: AbortSignal): Promise<readonly DetectorFacts[]> {
  const { models } = await admin.listModels({ signal });
  return models
    .filter(({ task }) => task === 'detection')
    .map(({ id, aliases, abstention, operating_points }) => ({
      id,
      aliases,
      uncertainBelow: abstention?.confidence_below,
      operatingPoints: operating_points.filter(({ usable }) => usable),
    }));
}
