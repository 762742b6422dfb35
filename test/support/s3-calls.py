# SPDX-License-Identifier: Apache-2.0
"""Makes one S3 call with boto3 and its default settings, and prints the answer.

Arguments: CALL ENDPOINT ACCESS_KEY SECRET_KEY NAME FILE
"""

import sys

import boto3

call, endpoint, access_key, secret_key, name, file = sys.argv[1:]
client = boto3.client(
    "s3", endpoint_url=endpoint, aws_access_key_id=access_key, aws_secret_access_key=secret_key, region_name="us-east-1"
)
where = {"Bucket": "veravox", "Key": name}
folder = name[: name.rindex("/") + 1]


def listed(operation):
    pages = client.get_paginator(operation).paginate(Bucket="veravox", Prefix=folder, PaginationConfig={"PageSize": 2})
    return [(one["Key"], one["Size"], one["ETag"]) for page in pages for one in page["Contents"]]


def put():
    with open(file, "rb") as body:
        client.put_object(**where, Body=body)


def get():
    with open(file, "wb") as out:
        out.write(client.get_object(**where)["Body"].read())


def groups():
    answer = client.list_objects_v2(Bucket="veravox", Prefix=folder, Delimiter="/")
    return [one["Prefix"] for one in answer["CommonPrefixes"]]


def remove_many():
    keys = [{"Key": key} for key, _, _ in listed("list_objects_v2")]
    assert "Errors" not in client.delete_objects(Bucket="veravox", Delete={"Objects": keys})


calls = {
    "put": put,
    "upload": lambda: client.upload_file(file, "veravox", name),
    "get": get,
    "download": lambda: client.download_file("veravox", name, file),
    "size": lambda: client.head_object(**where)["ContentLength"],
    "list": lambda: listed("list_objects_v2"),
    "list in version 1": lambda: listed("list_objects"),
    "groups": groups,
    "copy": lambda: client.copy({"Bucket": "veravox", "Key": name}, "veravox", f"{name} copy"),
    "remove": lambda: client.delete_object(**where),
    "remove all": remove_many,
    "bucket": lambda: (client.head_bucket(Bucket="veravox"), client.get_bucket_location(Bucket="veravox")),
    "buckets": lambda: client.list_buckets()["Buckets"][0]["Name"],
    "make bucket": lambda: client.create_bucket(Bucket="veravox"),
}
print(calls[call]())
