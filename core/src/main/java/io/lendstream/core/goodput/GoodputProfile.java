package io.lendstream.core.goodput;

/** What is known of a job: how fast it runs, and how much a larger batch teaches. */
public record GoodputProfile(ThroughputParameters throughput, GradientNoise noise) {}
