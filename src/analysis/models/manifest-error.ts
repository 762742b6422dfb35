// SPDX-License-Identifier: Apache-2.0

/** The manifest or a model file cannot be used; each of `problems` names the file and the field. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options);
    this.problems = problems;
  }
}
