#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes random secrets for compose.yml to the folder `secrets`, unless it exists.
set -eu
cd "$(dirname "$0")"
if [ -e secrets ]; then
  echo "deploy/secrets exists already; the running services use it." >&2
  exit 1
fi
random() {
  bytes=$(od -An -v -tx1 -N "$1" /dev/urandom)
  printf '%s' "$bytes" | tr -d ' \n'
}
# Each on its own, since the shell ends only if a whole assignment fails.
password=$(random 24)
access_key=$(random 9)
access_key=VX$(printf '%s' "$access_key" | tr 'a-f' 'A-F')
secret_key=$(random 24)
account_secret=$(random 32)
grafana_password=$(random 12)

# Only the folder is closed: containers get the files one by one, under users of their own. It appears once it is complete.
new=$(mktemp -d secrets.XXXXXX)
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM
umask 022
printf '%s' "$password" > "$new/postgres-password"
printf 'postgres://veravox:%s@postgres/veravox?sslmode=disable' "$password" > "$new/database-url"
printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$access_key" "$secret_key" > "$new/s3-credentials"
printf '{"version": 1, "accessKeyId": "%s", "secretAccessKey": "%s", "accountSecret": "%s"}\n' \
  "$access_key" "$secret_key" "$account_secret" > "$new/storage.json"
printf '%s' "$grafana_password" > "$new/grafana-password"
mv "$new" secrets
