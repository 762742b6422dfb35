# SPDX-License-Identifier: Apache-2.0
"""The address of a server."""


def server_address(base_url: str) -> str:
    """Return the address without slashes at its end, and without the version that some put there."""
    address = base_url.rstrip("/")
    if address.endswith("/v0"):
        raise ValueError(f"Expected a base_url without a version but received {base_url}; this client speaks v1.")
    return server_address(address[: -len("/v1")]) if address.endswith("/v1") else address
