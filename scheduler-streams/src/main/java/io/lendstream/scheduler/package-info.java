/**
 * The scheduler as a Kafka Streams application: it gives each domain's events their order, feeds them to the core, and
 * publishes what the core decides. Nothing is decided here.
 */
@NullMarked
package io.lendstream.scheduler;

import org.jspecify.annotations.NullMarked;
