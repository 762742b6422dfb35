// SPDX-License-Identifier: Apache-2.0

/** The address without slashes at its end, and without the version that some put there. */
export function serverAddress(baseUrl: string): string {
  let end = baseUrl.length;
  while (baseUrl[end - 1] === '/') end--;
  const address = baseUrl.slice(0, end);
  if (address.endsWith('/v0')) {
    throw new TypeError(
      `Expected a baseUrl without a version but received ${baseUrl}; this client speaks v1.`,
    );
  }
  return address.endsWith('/v1') ? serverAddress(address.slice(0, -'/v1'.length)) : address;
}
