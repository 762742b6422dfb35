// SPDX-License-Identifier: Apache-2.0

/** Says that the page may be out of date. */
export const Cut = () => (
  <p class="notice" role="status">
    The connection to the server is lost. What you see may be out of date. The page keeps trying.
  </p>
);
