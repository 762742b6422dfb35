// SPDX-License-Identifier: Apache-2.0

/** A request that another program could also send. */
export interface SentRequest {
  /** With a slash at its end. */
  readonly baseUrl: string;
  readonly kind: 'predict' | 'job';
  readonly source: { readonly fileName: string } | { readonly link: string };
  /** Fields that differ from the defaults. */
  readonly fields: Readonly<Record<string, string | number>>;
}

const PLACEHOLDER = 'YOUR_API_KEY';
const paths = { predict: 'v1/predict', job: 'v1/jobs' } as const;

/** For a POSIX shell: nothing in single quotes means anything but a single quote. */
const shell = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A literal of JavaScript and of Python, which agree on JSON's strings and numbers. No mark turns its direction. */
const literal = (value: unknown): string =>
  JSON.stringify(value).replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, escaped);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const KEY = `-H "x-api-key: $VERAVOX_KEY"`;
/** Not --json, which came with curl 7.82. --data-raw does not read a file if the text begins with @. */
const JSON_BODY = `-H 'content-type: application/json' --data-raw`;

/** The key of a stored file, from a name that may hold anything. */
export const objectKeyOf = (fileName: string): string =>
  fileName.replace(/[^\w.-]+/g, '-').slice(-100) || 'recording';

/** The fields as curl's option `-F` takes them: a value must not begin like a file. */
const formField = (name: string, value: string | number): string =>
  typeof value === 'string' && /^[@<]/.test(value)
    ? `--form-string ${shell(`${name}=${value}`)}`
    : `-F ${shell(`${name}=${value}`)}`;

export function curlOf({ baseUrl, kind, source, fields }: SentRequest): string {
  const key = `VERAVOX_KEY=${PLACEHOLDER}\n`;
  const at = (path: string): string => shell(`${baseUrl}${path}`);
  if ('link' in source) {
    const json = JSON.stringify({ presigned_url: source.link, ...fields });
    return `${key}curl ${at(paths[kind])} ${KEY} \\\n  ${JSON_BODY} ${shell(json)}`;
  }
  if (kind !== 'job') {
    // curl reads a name in double quotes up to the next one.
    const quoted = source.fileName.replace(/[\\"]/g, '\\$&');
    const lines = [
      `-F ${shell(`file=@"${quoted}"`)}`,
      ...Object.entries(fields).map(([name, value]) => formField(name, value)),
    ];
    return `${key}curl ${at(paths[kind])} ${KEY} \\\n  ${lines.join(' \\\n  ')}`;
  }
  const stored = objectKeyOf(source.fileName);
  const made = JSON.stringify({ keys: [stored], entity: 'playground' });
  const job = JSON.stringify({ key: stored, entity: 'playground', ...fields });
  return (
    `${key}LINK=$(curl ${at('v1/file')} ${KEY} ${JSON_BODY} ${shell(made)} | jq -r '.url[0].value')\n` +
    `curl --upload-file ${shell(source.fileName.replace(/^-/, './-'))} "$LINK"\n` +
    `curl ${at(paths.job)} ${KEY} ${JSON_BODY} ${shell(job)}`
  );
}

const client = ({ baseUrl }: SentRequest): string =>
  `const client = new VeravoxClient({ baseUrl: ${literal(baseUrl)}, apiKey: ${literal(PLACEHOLDER)} });\n`;

const optionsOf = (fields: SentRequest['fields']): string => {
  const entries = Object.entries(fields).map(([name, value]) => `${name}: ${literal(value)}`);
  return entries.length === 0 ? '' : `, { ${entries.join(', ')} }`;
};

export function typescriptOf(request: SentRequest): string {
  const { kind, source, fields } = request;
  const options = optionsOf(fields);
  const imports = `import { VeravoxClient } from 'veravox-client';\n\n${client(request)}`;
  const method = { predict: 'predict', job: 'createJob' }[kind];
  if ('link' in source) {
    const input = `{ presignedUrl: ${literal(source.link)} }`;
    const call = `client.${method}(${input}${options})`;
    if (kind === 'job')
      return `${imports}const { id } = await ${call};\nconst job = await client.waitForJob(id);`;
    return `${imports}const { global, segments } = await ${call};`;
  }
  const file = `const file = await openAsBlob(${literal(source.fileName)});\n`;
  const start = `import { openAsBlob } from 'node:fs';\n${imports}${file}`;
  if (kind !== 'job') return `${start}const { global, segments } = await client.${method}(file${options});`;
  const key = literal(objectKeyOf(source.fileName));
  return (
    `${start}const { url } = await client.createUploadLinks([${key}], { entity: 'playground' });\n` +
    'await client.upload(url[0], file);\n' +
    `const { id } = await client.createJob({ key: ${key}, entity: 'playground' }${options});\n` +
    'const job = await client.waitForJob(id);'
  );
}

export function pythonOf({ baseUrl, kind, source, fields }: SentRequest): string {
  const start = `import requests\n\nserver = ${literal(baseUrl)}\nkey = {"x-api-key": ${literal(PLACEHOLDER)}}\n`;
  const end = 'answer.raise_for_status()\nprint(answer.json())';
  const post = (path: string, body: string): string =>
    `requests.post(server + "${path}", headers=key, ${body})`;
  if ('link' in source) {
    return `${start}answer = ${post(paths[kind], `json=${literal({ presigned_url: source.link, ...fields })}`)}\n${end}`;
  }
  const opened = `with open(${literal(source.fileName)}, "rb") as file:\n    `;
  if (kind !== 'job') {
    const data = Object.keys(fields).length === 0 ? '' : `, data=${literal(fields)}`;
    return `${start}${opened}answer = ${post(paths[kind], `files={"file": file}${data}`)}\n${end}`;
  }
  const stored = objectKeyOf(source.fileName);
  const links = literal({ keys: [stored], entity: 'playground' });
  const job = literal({ key: stored, entity: 'playground', ...fields });
  return (
    `${start}link = ${post('v1/file', `json=${links}`)}.json()["url"][0]["value"]\n` +
    `${opened}requests.put(link, data=file).raise_for_status()\n` +
    `answer = ${post(paths.job, `json=${job}`)}\n${end}`
  );
}
