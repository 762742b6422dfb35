#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes random secrets for compose.yml to the folder `secrets`, unless it exists.
set -eu
cd "$(dirname "$0")"
if [ -e secrets ]; then
  echo "deploy/secrets exists already; the running services use it." >&2
  exit 1
fi
random() { od -An -v -tx1 -N "$1" /dev/urandom | tr -d ' \n'; }

# Only the folder is closed: containers get the files one by one, under users of their own.
mkdir -m 0700 secrets
umask 022
password=$(random 24)
access_key=VX$(random 9 | tr 'a-f' 'A-F')
secret_key=$(random 24)
printf '%s' "$password" > secrets/postgres-password
printf 'postgres://veravox:%s@postgres/veravox?sslmode=disable' "$password" > secrets/database-url
printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$access_key" "$secret_key" > secrets/s3-credentials
printf '{"version": 1, "accessKeyId": "%s", "secretAccessKey": "%s", "accountSecret": "%s"}\n' \
  "$access_key" "$secret_key" "$(random 32)" > secrets/storage.json
printf '%s' "$(random 12)" > secrets/grafana-password
