/**
 * The scheduler as a Kafka Streams application. It orders each domain's events, feeds them to the core, and publishes
 * the core's decisions. It makes no decisions itself.
 */
@NullMarked
package io.lendstream.scheduler;

import org.jspecify.annotations.NullMarked;
