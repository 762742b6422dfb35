// SPDX-License-Identifier: Apache-2.0

/**
 * Options of Ajv for schemas that are part of the program: they are not checked to be schemas each time, which is for tests to
 * see. Compiling the schema of schemas took longer than all else at start.
 */
export const ownSchemas = { meta: false, validateSchema: false } as const;
