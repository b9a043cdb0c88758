package io.lendstream.launcher.architecture.broken.forecaster;

import org.apache.kafka.streams.KeyValue;

/** Brings a framework onto a class path where it must not be. */
public record UsesStreams(KeyValue<String, String> pair) {}
