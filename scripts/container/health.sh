#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Succeeds if the server in this container answers /readyz with 200. In bash, which the image has anyway: it takes a
# few milliseconds of processor time, a Node process ten times as much. That is left for TLS, which bash does not speak.
# The operators' address uses HTTP even if the public one has TLS.
address=${VERAVOX_ADMIN_ADDRESS:-${HOST:-127.0.0.1}:${PORT:-8080}}
host=${address%:*}
host=${host#[}
if [[ -z $VERAVOX_ADMIN_ADDRESS && -n $VERAVOX_TLS_CERT ]]; then
  # The certificate is for the server's name, not for this address.
  exec node -e '
    const [host, port] = process.argv.slice(1);
    require("https").get({ host, port, path: "/readyz", rejectUnauthorized: false }, ({ statusCode }) => {
      process.exit(statusCode === 200 ? 0 : 1);
    });' "${host%]}" "${address##*:}"
fi
exec 3<>"/dev/tcp/${host%]}/${address##*:}" || exit 1
printf 'GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
IFS= read -r -t 3 status <&3
[[ $status == 'HTTP/1.1 200 '* ]]
