// SPDX-License-Identifier: Apache-2.0

/**
 * Ajv options for the program's own schemas: whether they are valid schemas is for tests to check, not for each start.
 * Compiling the schema of schemas took longer than everything else at start.
 */
export const ownSchemas = { meta: false, validateSchema: false } as const;
