"""Reads one decision of ours and writes one node that we read, with Confluent's Python client.

Usage: interop.py BOOTSTRAP REGISTRY
Prints the decision as one line of JSON, its times as milliseconds.
"""

import datetime
import json
import sys

from confluent_kafka import DeserializingConsumer, SerializingProducer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import StringDeserializer, StringSerializer


def plain(value):
    if isinstance(value, datetime.datetime):
        return round(value.timestamp() * 1000)
    raise TypeError(f"{value!r} has no plain form")


def read_decision(bootstrap, registry):
    consumer = DeserializingConsumer({
        "bootstrap.servers": bootstrap,
        "group.id": "interop",
        "auto.offset.reset": "earliest",
        "key.deserializer": StringDeserializer(),
        "value.deserializer": AvroDeserializer(registry),
    })
    consumer.subscribe(["lendstream.decisions"])
    try:
        for _ in range(60):
            message = consumer.poll(1.0)
            if message is not None:
                return message.value()
        raise SystemExit("no decision came within 60 s")
    finally:
        consumer.close()


def write_node(bootstrap, registry):
    latest = registry.get_latest_version("lendstream.nodes-value")
    node = {
        "nodeId": "node-of-python",
        "domain": "east",
        "pool": "INFERENCE",
        "bootId": "boot-1",
        "at": datetime.datetime.fromtimestamp(1_700_000_000, datetime.timezone.utc),
        "status": "READY",
        "gpus": [{
            "gpuId": "GPU-1",
            "index": 0,
            "model": "NVIDIA H100",
            "memoryBytes": 85899345920,
            "pciBusId": None,
            "migEnabled": True,
            "instances": [
                {"gpuId": "GPU-1/0:4", "profile": "3g.40gb", "start": 0, "size": 4, "memoryBytes": 42949672960},
            ],
        }],
    }
    producer = SerializingProducer({
        "bootstrap.servers": bootstrap,
        "key.serializer": StringSerializer(),
        "value.serializer": AvroSerializer(registry, latest.schema.schema_str, conf={"auto.register.schemas": False}),
    })
    producer.produce("lendstream.nodes", key=node["nodeId"], value=node)
    if producer.flush(60) > 0:
        raise SystemExit("the node was not delivered within 60 s")


def main():
    bootstrap, url = sys.argv[1:3]
    registry = SchemaRegistryClient({"url": url})
    write_node(bootstrap, registry)
    print(json.dumps(read_decision(bootstrap, registry), default=plain))


main()
