// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/** Documents of a YAML text as an independent reader understands them, without empty ones. */
export function yamlDocuments(text: string): unknown[] {
  const script =
    'import json, sys, yaml; json.dump([d for d in yaml.safe_load_all(sys.stdin) if d is not None], sys.stdout)';
  return JSON.parse(execFileSync('/usr/bin/python3', ['-c', script], { input: text, encoding: 'utf8' }));
}

export const readYaml = (file: string): unknown => yamlDocuments(fs.readFileSync(file, 'utf8'))[0];
