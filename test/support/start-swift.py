# SPDX-License-Identifier: Apache-2.0
"""OpenStack Swift with its S3 API, in one process on free ports of the loopback, with an empty bucket.

Usage: /usr/bin/python3 start-swift.py FOLDER

Needs Debian's python3-swift, and extended attributes in the folder's file system. Prints the port of the
S3 API. Credentials: test:tester and testing. Bucket: veravox. Ends on SIGTERM.
"""

import os
import sys

from swift.common import utils

utils.eventlet_monkey_patch()  # before the other imports, which keep what they find

import eventlet.wsgi  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.storage_policy import reload_storage_policies  # noqa: E402
from swift.common.utils import NullLogger  # noqa: E402
from swift.common.wsgi import loadapp  # noqa: E402

SERVERS = ("account", "container", "object")
PROXY = """
[DEFAULT]
swift_dir = {folder}
[pipeline:main]
pipeline = catch_errors cache s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
conn_timeout = 60
node_timeout = 120
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
# Nobody listens there: it has to be configured but is not needed.
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""
SERVER = """
[DEFAULT]
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
[pipeline:main]
pipeline = server
[app:server]
use = egg:swift#{name}
conn_timeout = 60
node_timeout = 120
container_update_timeout = 120
"""


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text.format(folder=folder, name=name.split(".")[0]))
    return path


def build_ring(folder, name, port):
    builder = RingBuilder(1, 1, 0)
    builder.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "one", "weight": 1})
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, f"{name}.ring.gz"))


def serve(listener, config):
    eventlet.spawn(eventlet.wsgi.server, listener, loadapp(config), NullLogger())


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(os.path.join(folder, "devices", "one"))
    utils.SWIFT_CONF_FILE = write(folder, "swift.conf", "[swift-hash]\nswift_hash_path_suffix = tests\n")
    utils.validate_hash_conf()
    reload_storage_policies()
    listeners = {name: eventlet.listen(("127.0.0.1", 0)) for name in SERVERS}
    for name, listener in listeners.items():
        build_ring(folder, name, listener.getsockname()[1])
    for name, listener in listeners.items():
        serve(listener, write(folder, f"{name}.conf", SERVER))
    proxy = eventlet.listen(("127.0.0.1", 0))
    serve(proxy, write(folder, "proxy.conf", PROXY))
    print(proxy.getsockname()[1], flush=True)
    while True:
        eventlet.sleep(3600)


main()
