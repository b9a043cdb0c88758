package io.lendstream.schemas.serde;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.avro.Schema;

/** Determines the registry's subject for a record's schema; named in configuration like Confluent's classes. */
enum SubjectNaming {
    /** {@code <topic>-value}: one type a topic. */
    TopicNameStrategy {
        @Override
        String subject(String topic, boolean key, Schema schema) {
            return topic + (key ? "-key" : "-value");
        }
    },
    /** The record's full name, whatever the topic. */
    RecordNameStrategy {
        @Override
        String subject(String topic, boolean key, Schema schema) {
            return schema.getFullName();
        }
    },
    /** {@code <topic>-<record's full name>}: several types a topic. */
    TopicRecordNameStrategy {
        @Override
        String subject(String topic, boolean key, Schema schema) {
            return topic + "-" + schema.getFullName();
        }
    };

    abstract String subject(String topic, boolean key, Schema schema);

    static SubjectNaming from(Map<String, ?> properties, boolean key) {
        String property = key ? "key.subject.name.strategy" : "value.subject.name.strategy";
        Object given = properties.get(property);
        if (given == null) {
            return TopicNameStrategy;
        }
        String name = given instanceof Class<?> type ? type.getName() : given.toString();
        String simple = name.substring(name.lastIndexOf('.') + 1);
        return Arrays.stream(values())
                .filter(naming -> naming.name().equals(simple))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "%s must be one of %s (with or without Confluent's package), but was %s"
                                .formatted(
                                        property,
                                        Arrays.stream(values()).map(Enum::name).collect(Collectors.joining(", ")),
                                        name)));
    }
}
