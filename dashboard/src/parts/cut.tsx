// SPDX-License-Identifier: Apache-2.0

/** Says that what is shown may be old. */
export const Cut = () => (
  <p class="notice" role="status">
    The connection to the server is lost. What you see may be out of date. The page keeps trying.
  </p>
);
