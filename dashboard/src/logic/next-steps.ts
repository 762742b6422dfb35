// SPDX-License-Identifier: Apache-2.0

/** Next steps for a reader of the dashboard after errors whose messages speak to programs. By keys of docs/errors.md. */
export const nextSteps: ReadonlyMap<string, string> = new Map([
  ['NO_SPEECH', 'Use audio with more speech, or raise the silence threshold.'],
  [
    'FETCH_HOST_REFUSED',
    'Download the recording and choose the file, or ask the operator to allow this host.',
  ],
  ['CHANNELS_TOO_MANY', 'Choose “Only their mix” in the settings.'],
  ['JOB_NOT_FOUND', 'Its id is wrong, or it was removed after its end.'],
  ['SIGN_IN_REFUSED', 'Check both. An administrator can give you a link for a new password.'],
]);

/** A sentence, if there is more to say than the message. */
export const nextStepAfter = (errorKey: string | undefined): string | undefined =>
  errorKey === undefined ? undefined : nextSteps.get(errorKey);
